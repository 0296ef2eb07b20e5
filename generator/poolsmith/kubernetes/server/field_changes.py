"""What differs between two documents, field by field, as Kubernetes means them and never as text.

Lists of named things (containers, variables, volumes, ports) are compared by name: their items go into pointers by it,
so that one more container in front changes nothing of the others. Lists whose order means nothing (tolerations, rules,
finalizers) are compared by content. What is left, such as `command` and `args`, is one field as a whole.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.core.diagnostics import Location

Path = tuple[str, ...]


class Standing(StrEnum):
    """Of a cluster, a pool, an object or an image, between base and change."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


@record
class FieldChange:
    """One field of a document: a JSON pointer (RFC 6901), and what stood and stands there.

    `Standing.ADDED` has no `old`, `REMOVED` no `new`. Secrets are masked already.
    """

    pointer: str
    standing: Standing
    old: Any = None
    new: Any = None
    place: Location | None = None
    """The line of a profile that causes it, where one is known."""


_NAMES: dict[str, tuple[str, ...]] = {
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "ports": ("name", "containerPort", "port", "protocol"),
    "items": ("key",),
    "tolerations": ("key", "operator", "value", "effect"),
    "taints": ("key", "effect"),
    "startupTaints": ("key", "effect"),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
    "acknowledge": ("fact",),
    "subjects": ("kind", "namespace", "name"),
}
"""What tells the items of a list apart, where it is not `name`: the merge keys of Kubernetes where it has them."""
_IN_ORDER = frozenset(("command", "args", "exec"))
"""Lists of texts whose order is their meaning; others of texts are sets."""
_SETS = frozenset(
    (
        "accessModes",
        "add",
        "apiGroups",
        "drop",
        "finalizers",
        "imagePullSecrets",
        "names",
        "nonResourceURLs",
        "resourceNames",
        "resources",
        "verbs",
        "resourcePolicies",
        "syncOptions",
        "dependsOn",
    )
)


def field_changes(
    old: Any,
    new: Any,
    *,
    within: str = "",
    place: Callable[[str], Location | None] | None = None,
    leaves: bool = False,
) -> tuple[FieldChange, ...]:
    """In the order of their pointers, which begin with `within`; secrets are masked.

    `place` tells the line of a profile that a pointer goes back to. A mapping that comes or goes is one change; with
    `leaves` each of its fields is.
    """
    if old == new and repr(old) == repr(new):  # to Python True is 1; to YAML it is not
        return ()
    found = []
    for path, standing in sorted(_differences((), old, new, leaves=leaves)):
        pointer = join(within, *path)
        found.append(
            FieldChange(
                pointer=pointer,
                standing=standing,
                old=None if standing is Standing.ADDED else _masked_at(old, path),
                new=None if standing is Standing.REMOVED else _masked_at(new, path),
                place=place(pointer) if place is not None else None,
            )
        )
    return tuple(found)


def _differences(path: Path, old: Any, new: Any, *, leaves: bool) -> Iterator[tuple[Path, Standing]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            below = (*path, str(key))
            if key not in new:
                yield from _whole(below, old[key], Standing.REMOVED, leaves=leaves)
            elif key not in old:
                yield from _whole(below, new[key], Standing.ADDED, leaves=leaves)
            else:
                yield from _differences(below, old[key], new[key], leaves=leaves)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(path, old, new, leaves=leaves)
    elif old != new or type(old) is not type(new):
        yield path, Standing.CHANGED


def _whole(path: Path, value: Any, standing: Standing, *, leaves: bool) -> Iterator[tuple[Path, Standing]]:
    if leaves and isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _whole((*path, str(key)), item, standing, leaves=leaves)
    else:
        yield path, standing


def _of_lists(path: Path, old: list[Any], new: list[Any], *, leaves: bool) -> Iterator[tuple[Path, Standing]]:
    before, after = named_items(path, old), named_items(path, new)
    if before is not None and after is not None:
        for name in sorted({*before, *after}):
            if name not in after:
                yield (*path, name), Standing.REMOVED
            elif name not in before:
                yield (*path, name), Standing.ADDED
            else:
                yield from _differences((*path, name), before[name], after[name], leaves=leaves)
    elif not _same_list(path, old, new):
        yield path, Standing.CHANGED


def _same_list(path: Path, old: list[Any], new: list[Any]) -> bool:
    if path and (path[-1] in _SETS or (path[-1] == "rules" and all(isinstance(item, dict) for item in (*old, *new)))):
        return sorted(map(_text, old)) == sorted(map(_text, new))
    return _text(old) == _text(new)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def named_items(path: Path, items: list[Any]) -> dict[str, Any] | None:
    """The items by what tells them apart; None where they are no mappings, or two are told by the same."""
    if not items:
        return {}
    if path and path[-1] in _IN_ORDER:
        return None
    keys = _NAMES.get(path[-1] if path else "", ("name",))
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        name = ":".join(str(item[key]) for key in keys if item.get(key) not in (None, ""))
        if not name or name in found:
            return None
        found[name] = item
    return found


def _masked_at(document: Any, path: Path) -> Any:
    """What stands at the end of a path of `_differences`. What it is called and what stands beside it tell whether it
    is a secret; in a Secret all of its data are."""
    if isinstance(document, dict) and document.get("kind") == "Secret":
        document = masked_tree(document)
    node, name = document, ""
    above: Path = ()
    for step in path[:-1]:
        node = _below(node, above, step)
        name = step if isinstance(node, dict) else name
        above = (*above, step)
    if not path:
        return masked_tree(node)
    if isinstance(node, list):
        return masked_tree(_below(node, above, path[-1]))
    return _below(masked_tree(node, name), above, path[-1])


def _below(node: Any, above: Path, step: str) -> Any:
    if isinstance(node, list):
        return (named_items(above, node) or {})[step]
    return node[step] if step in node else next(value for key, value in node.items() if str(key) == step)
