"""How people call it and read it."""
