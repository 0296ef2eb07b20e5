"""Grants as Kyverno has exceptions: for pods of a workload that hold no more than what is granted."""
