"""Rules over what a cluster's profiles produce."""
