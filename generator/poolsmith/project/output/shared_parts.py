"""What several trees have in common, and JSON patches (RFC 6902) that make each of them out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import MISSING, copied
from poolsmith.core.sources.pointer import join, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_END = "-"
_CONTAINERS = ("containers", "initContainers")
"""Lists whose items are of use in part; a volume or a variable is not."""


def common(trees: Sequence[Any], key: str = "") -> Any:
    """The part of all trees that is the same; MISSING where there is none. `key` is where they stand.

    Of mappings the keys that all have, of lists the items that they begin with, of containers also parts.
    """
    first, *others = trees
    if all(other == first for other in others):
        return copied(first)
    if all(isinstance(tree, dict) for tree in trees):
        everywhere = [name for name in first if all(name in tree for tree in others)]
        shared = {name: common([tree[name] for tree in trees], name) for name in everywhere}
        return {name: value for name, value in shared.items() if value is not MISSING}
    if all(isinstance(tree, list) for tree in trees):
        return _common_start(trees, in_parts=key in _CONTAINERS)
    return MISSING


def _common_start(lists: Sequence[list[Any]], *, in_parts: bool) -> Any:
    found = []
    for items in zip(*lists, strict=False):
        part = common(items) if in_parts or all(item == items[0] for item in items) else MISSING
        if part is MISSING:
            break
        found.append(part)
    return found or MISSING


def patches(base: Any, target: Any, *path: str) -> Iterator[dict[str, Any]]:
    """Operations that turn `base`, the common part of `target` and others, into `target`."""
    if base == target:
        return
    if isinstance(base, dict) and isinstance(target, dict) and base.keys() <= target.keys():
        for key, value in target.items():
            if key in base:
                yield from patches(base[key], value, *path, key)
            else:
                yield {"op": "add", "path": join("", *path, key), "value": value}
    elif isinstance(base, list) and isinstance(target, list) and len(base) <= len(target):
        for index, value in enumerate(target):
            if index < len(base):
                yield from patches(base[index], value, *path, str(index))
            else:
                yield {"op": "add", "path": join("", *path, _END), "value": value}
    else:
        yield {"op": "replace", "path": join("", *path), "value": target}


def patched(base: Any, operations: Sequence[dict[str, Any]]) -> Any:
    """`base` with the operations applied; of RFC 6902 what `patches` writes."""
    tree = copied(base)
    for operation in operations:
        *above, last = split(operation["path"])
        node = tree
        for step in above:
            node = node[int(step) if isinstance(node, list) else step]
        if isinstance(node, dict):
            node[last] = copied(operation["value"])
        elif last == _END:
            node.append(copied(operation["value"]))
        else:
            node[int(last)] = copied(operation["value"])
    return tree
