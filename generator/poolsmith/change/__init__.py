"""What differs: a pull request, an upgrade, a live cluster."""
