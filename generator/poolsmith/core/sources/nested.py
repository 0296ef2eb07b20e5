"""A look below the keys of nested mappings, and copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MISSING: Final = object()
"""Where null is a value like any other: `value_at(node, path, MISSING) is MISSING`."""


def value_at(node: Any, path: Iterable[str], missing: Any = None) -> Any:
    """What stands below the keys of `path`, one after the other; `missing` where a key or a mapping is absent."""
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return missing
        node = node[key]
    return node


def overlap(one: Sequence[str | int], other: Sequence[str | int]) -> bool:
    """Whether two paths lead to the same place, or one to a place below that of the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def copied(value: Any) -> Any:
    """A tree of mappings, lists and scalars, as it is read from YAML or JSON, with nothing shared.

    Several times as fast as the general copy, which looks for cycles and for classes.
    """
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
