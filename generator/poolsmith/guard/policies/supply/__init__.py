"""Where charts, repositories and images may come from, and what is accepted although nobody can tell what it does."""
