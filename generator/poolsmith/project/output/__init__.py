"""Output: which files, and are they in place?"""
