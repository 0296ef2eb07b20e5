"""Plan: what follows from the profiles? A visible tuple of passes."""
