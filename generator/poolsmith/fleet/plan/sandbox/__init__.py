"""Sandboxed workloads: Kata by the era of the release, virtual machines, vGPU, and what their hosts must have."""
