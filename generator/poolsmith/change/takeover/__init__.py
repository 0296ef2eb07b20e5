"""Use case: profiles for an installation that a repository has already."""
