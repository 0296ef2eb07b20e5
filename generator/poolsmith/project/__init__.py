"""A project's clusters: run, and written as files."""
