"""What may not change between two revisions of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.defaulting import with_defaults
from poolsmith.kubernetes.schema.validation_rules import IMMUTABLE
from poolsmith.kubernetes.schema.violation import Violation, What, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.schema.scalars import Schema


def transition_violations(
    schema: Schema, old: Any, new: Any, resolve: Callable[[Schema], Schema]
) -> tuple[Violation, ...]:
    """Rules over `oldSelf`, on the defaulted objects. As the API server does, only fields that both have are compared,
    and items of lists only where the definition says what identifies them.
    """
    return tuple(_walk(schema, with_defaults(schema, old, resolve), with_defaults(schema, new, resolve), resolve))


def _walk(schema: Schema, old: Any, new: Any, resolve: Callable[[Schema], Schema]) -> list[Violation]:
    found: list[Violation] = []
    if IMMUTABLE in schema.get("rules", ()) and old != new:
        change = f" (`{shown(old)}` to `{shown(new)}`)" if isinstance(old, (str, bool, int)) else ""
        found.append(Violation(What.RULE, f"can't be changed{change}", help="delete the object, and create it anew"))
    for step, child, before, after in _pairs(schema, old, new):
        below = _walk(resolve(child), before, after, resolve)
        for violation in below:
            violation.steps.append(step)
        found.extend(below)
    return found


def _pairs(schema: Schema, old: Any, new: Any) -> list[tuple[str | int, Schema, Any, Any]]:
    """The children that are in both revisions, by their place in the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        properties = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        children = {key: properties.get(key, additional) for key in new if key in old}
        return [(key, child, old[key], new[key]) for key, child in children.items() if child is not None]
    keys = schema.get("listMapKeys") if schema.get("listType") == "map" else None
    if keys and isinstance(old, list) and isinstance(new, list):
        before = {_identity(item, keys): item for item in old}
        return [
            (index, schema.get("items", {}), before[_identity(item, keys)], item)
            for index, item in enumerate(new)
            if _identity(item, keys) in before
        ]
    return []


def _identity(item: Any, keys: list[str]) -> str:
    return repr([item.get(key) for key in keys]) if isinstance(item, dict) else repr(item)
