"""Kubernetes Pod Security Standards on pods and pod templates, of each version, without a cluster."""
