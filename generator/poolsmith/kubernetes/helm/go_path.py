"""Paths taken apart and joined as the operator does it: always cleaned.

Rules: the standard packages `path` and `path/filepath` of Go.
"""

from __future__ import annotations

import posixpath


def cleaned(path: str) -> str:
    """Without dots, doubled and closing slashes."""
    short = posixpath.normpath(path)
    return short[1:] if short.startswith("//") else short


def folder_of(path: str) -> str:
    """Everything up to the last slash: a path that ends in one is a folder itself."""
    return cleaned(path[: path.rfind("/") + 1])


def name_of(path: str) -> str:
    """The last part, closing slashes aside."""
    return path.rstrip("/").rpartition("/")[2] or "/"


def joined(*parts: str) -> str:
    """All parts that are not empty, below each other even where one starts with a slash."""
    path = "/".join(part for part in parts if part)
    return cleaned(path) if path else ""
