"""What a driver's version says: a branch like `580`, or all of it like `580.126.20`."""

from __future__ import annotations

import re

_BRANCH = re.compile(r"\d{3}", re.ASCII)
_ANY = re.compile(r"\d{3}(\.\d+){0,3}", re.ASCII)
_FULL = re.compile(r"\d{3}\.\d+(\.\d+)?", re.ASCII)


def is_branch(version: str) -> bool:
    """As in the tags of precompiled drivers."""
    return _BRANCH.fullmatch(version) is not None


def is_full(version: str) -> bool:
    """As in the tags of drivers that are compiled on the node."""
    return _FULL.fullmatch(version) is not None


def is_version(version: str) -> bool:
    """A branch, all of a version, or what lies between."""
    return _ANY.fullmatch(version) is not None


def branch_of(version: str) -> int | None:
    """None for a digest, and for what is no version."""
    first = version.partition(".")[0].partition("-")[0]
    return int(first) if is_branch(first) else None
