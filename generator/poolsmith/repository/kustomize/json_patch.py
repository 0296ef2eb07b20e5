"""JSON patches (RFC 6902), and which place of an object each operation decides."""

from __future__ import annotations

from typing import Any

from poolsmith.record import record
from poolsmith.repository.kustomize.item import RefusedError
from poolsmith.sources.nested import copied
from poolsmith.sources.pointer import join, split


@record(kw_only=False)
class Operation:
    """What the operation with `index` puts at a place of the object."""

    index: int
    at: str
    value: Any


def apply(base: Any, operations: list[Any]) -> tuple[Any, list[Operation]]:
    """A changed copy of `base`, and what was put where. Raises RefusedError."""
    result = copied(base)
    put: list[Operation] = []
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise RefusedError("an operation has no path")
        path, kind = operation["path"], operation.get("op")
        if kind in ("move", "copy"):
            source = operation.get("from")
            if not isinstance(source, str):
                raise RefusedError(f"`{kind}` has no `from`")
            value = copied(_get(result, split(source)))
            if kind == "move":
                _remove(result, split(source))
            _add(result, split(path), value)
        elif kind in ("add", "replace"):
            value = copied(operation.get("value"))
            at = _add(result, split(path), value) if kind == "add" else _replace(result, split(path), value)
            put.append(Operation(index, join("", *at), value))
        elif kind == "remove":
            _remove(result, split(path))
        elif kind == "test":
            if _get(result, split(path)) != operation.get("value"):
                raise RefusedError(f"`test` at {path} fails")
        else:
            raise RefusedError(f"`{kind}` is no operation")
    return result, put


def _get(node: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            raise RefusedError(f"there is no /{'/'.join(steps)}")
    return node


def _add(document: Any, steps: tuple[str, ...], value: Any) -> tuple[str, ...]:
    if not steps:
        raise RefusedError("an operation on the whole object")
    parent, last = _get(document, steps[:-1]), steps[-1]
    if isinstance(parent, dict):
        parent[last] = value
        return steps
    if isinstance(parent, list):
        if last == "-":
            parent.append(value)
            return (*steps[:-1], str(len(parent) - 1))
        if last.isdecimal() and int(last) <= len(parent):
            parent.insert(int(last), value)
            return steps
    raise RefusedError(f"nothing can be added at /{'/'.join(steps)}")


def _replace(document: Any, steps: tuple[str, ...], value: Any) -> tuple[str, ...]:
    _get(document, steps)
    parent, last = _get(document, steps[:-1]), steps[-1]
    if isinstance(parent, dict):
        parent[last] = value
    else:
        parent[int(last)] = value
    return steps


def _remove(document: Any, steps: tuple[str, ...]) -> None:
    _get(document, steps)
    parent = _get(document, steps[:-1])
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        del parent[int(steps[-1])]
