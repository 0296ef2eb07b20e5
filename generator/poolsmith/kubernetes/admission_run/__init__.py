"""Policies in a process of their own that can be stopped."""
