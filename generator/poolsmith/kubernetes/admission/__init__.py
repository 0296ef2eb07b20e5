"""Admission policies, decided without a cluster: what the API server's own plugin would say."""
