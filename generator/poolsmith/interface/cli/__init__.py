"""Cli: one file per verb; parses, calls app, prints, and returns an exit code."""
