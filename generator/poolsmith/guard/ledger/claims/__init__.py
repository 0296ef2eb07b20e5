"""Claims: what a pod is and wants, as texts that the privilege policy compares."""
