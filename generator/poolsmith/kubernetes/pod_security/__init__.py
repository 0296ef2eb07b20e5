"""Pod Security Standards: pods against a level and a version."""
