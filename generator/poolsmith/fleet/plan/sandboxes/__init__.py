"""Sandboxed workloads: Kata by the era of the release, virtual machines, and what their hosts must have."""
