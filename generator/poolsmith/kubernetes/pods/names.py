"""Names and places that Kubernetes itself gives."""

from __future__ import annotations

SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Of generated names: no vowels, and no digits like letters, so that they form no words."""
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where the API server mounts the token
