"""JSON patches (RFC 6902) as kustomize applies them, and which place of an object each operation decides.

Source: gopkg.in/evanphx/json-patch.v4: `replace` of a key that is not there adds it, and what stands before the first
slash of a path counts for nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import copied
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.kustomize.item import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_INDEX = re.compile(r"[+-]?[0-9]{1,9}")
_GONE: Any = object()


@record(kw_only=False)
class Operation:
    """What the operation with `index` puts at a place of the object; `field` holds the value."""

    index: int
    at: str
    value: Any
    field: str = "value"


def apply(base: Any, operations: list[Any]) -> tuple[Any, list[Operation]]:
    """A changed copy of `base`, and what was put where. Raises RefusedError."""
    result = copied(base)
    put: list[Operation] = []
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise RefusedError("an operation has no path")
        put += _done(result, index, operation)
    return result, put


def _done(document: Any, index: int, operation: dict[str, Any]) -> Iterator[Operation]:
    path, kind = operation["path"], operation.get("op")
    if kind in ("move", "copy"):
        source = operation.get("from")
        if not isinstance(source, str):
            raise RefusedError(f"`{kind}` has no `from`")
        parent, key, _ = _found(document, source)
        value = _get(parent, key)
        if kind == "move":
            _remove(parent, key)
        value = None if value is _GONE else copied(value)
        yield Operation(index, _add(*_found(document, path), value), value, "path")
    elif kind == "add":
        value = copied(operation.get("value"))
        yield Operation(index, _add(*_found(document, path), value), value)
    elif kind == "replace":
        value = copied(operation.get("value"))
        yield Operation(index, _replace(document, path, value), value)
    elif kind == "remove":
        parent, key, _ = _found(document, path)
        _remove(parent, key)
    elif kind == "test":
        parent, key, _ = _found(document, path)
        value = _get(parent, key)
        if (None if value is _GONE else value) != operation.get("value"):
            raise RefusedError(f"`test` at {path[:60]} fails")
    else:
        raise RefusedError(f"`{str(kind)[:20]}` is no operation")


def _found(document: Any, path: str) -> tuple[Any, str, str]:
    """What holds the end of a path, the key or index in it, and the pointer to what holds it."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
    if len(steps) == 1:
        raise RefusedError(f"`{path[:60]}` is no path of an operation")
    node, at = document, ""
    for step in steps[1:-1]:
        index = _index(node, step) if isinstance(node, list) else None
        node = _get(node, step)
        if not isinstance(node, (dict, list)):
            raise RefusedError(f"there is no {path[:60]}")
        at = join(at, step if index is None else index)
    return node, steps[-1], at


def _index(items: list[Any], step: str, *, more: int = 0) -> int:
    """Negative ones count from the end. `more` may be added there."""
    if not _INDEX.fullmatch(step):
        raise RefusedError(f"`{step[:60]}` is no index of a list")
    index = int(step)
    size = len(items) + more
    if not -size <= index < size:
        raise RefusedError(f"the index {step[:60]} is out of bounds")
    return index + size if index < 0 else index


def _get(node: Any, step: str) -> Any:
    return node[_index(node, step)] if isinstance(node, list) else node.get(step, _GONE)


def _add(parent: Any, step: str, at: str, value: Any) -> str:
    if isinstance(parent, dict):
        parent[step] = value
        return join(at, step)
    index = len(parent) if step == "-" else _index(parent, step, more=1)
    parent.insert(index, value)
    return join(at, index)


def _replace(document: Any, path: str, value: Any) -> str:
    if not path:
        if not isinstance(value, dict):
            raise RefusedError("an object is replaced by none")
        document.clear()
        document.update(value)
        return ""
    parent, step, at = _found(document, path)
    if isinstance(parent, dict):
        parent[step] = value
        return join(at, step)
    index = _index(parent, step)
    parent[index] = value
    return join(at, index)


def _remove(parent: Any, step: str) -> None:
    if isinstance(parent, list):
        del parent[_index(parent, step)]
    elif step not in parent:
        raise RefusedError(f"there is no `{step[:60]}` to remove")
    else:
        del parent[step]
