"""A look below the keys of nested mappings. Floor: sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MISSING: Final = object()
"""Where null is a value like any other: `value_at(node, path, MISSING) is MISSING`."""


def value_at(node: Any, path: Iterable[str], missing: Any = None) -> Any:
    """What stands below the keys of `path`, one after the other; `missing` where a key or a mapping is absent."""
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return missing
        node = node[key]
    return node
