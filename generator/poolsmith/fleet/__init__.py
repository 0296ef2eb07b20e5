"""From profiles to what will run."""
