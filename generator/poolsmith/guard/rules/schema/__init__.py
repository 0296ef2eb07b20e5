"""Objects against the schemas of their versions."""
