"""What Helm does with values and templates."""
