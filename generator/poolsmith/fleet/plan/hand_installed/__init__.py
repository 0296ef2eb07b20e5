"""Passes for a cluster without the operator: the hand-installed stack."""
