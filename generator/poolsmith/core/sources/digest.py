"""Digests of what was read."""

from __future__ import annotations

import hashlib
import marshal
from typing import Any


def digest(content: bytes) -> str:
    """As locks have it: the algorithm, and the hash in hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def tree_digest(tree: Any) -> bytes:
    """Of mappings, lists and scalars. NOTE: marshal is by far the fastest way to bytes; its version 2 writes equal
    trees alike.
    """
    return hashlib.blake2b(marshal.dumps(tree, 2), digest_size=16).digest()
