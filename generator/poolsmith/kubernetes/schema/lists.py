"""Checks of lists: their items, their length, and entries that stand twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.violation import Found, Violation, What, shown, wrong_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.schema.scalars import Schema

_BUILT_IN_DEFAULTS = {"protocol": "TCP"}
"""Keys of built-in list maps that have a default; their schemas hold none."""


def list_check(
    schema: Schema,
    items: Schema,
    check_item: Callable[[Any], Found],
    on_null: Callable[[], Found],
    *,
    custom: bool,
) -> Callable[[Any], Found]:
    """`custom`: the API server itself refuses duplicates in custom resources; in others server-side apply does."""
    duplicates = _duplicate_finder(schema, items, custom=custom)
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    empty_item = items.get("type") == "object" and not custom
    has_identity = schema.get("listType") in ("map", "set") and not custom

    def check(value: Any) -> Found:
        if value.__class__ is not list:
            return on_null() if value is None else [wrong_type(value, "list")]
        found: Found = None
        for index, item in enumerate(value):
            if (bad := check_item(item)) is None:
                continue
            if item is None and has_identity:
                bad = [Violation(What.TYPE, "is null, which server-side apply refuses in this list", help="remove it")]
            elif item is None and empty_item:
                bad = [*bad, *(check_item({}) or ())]  # null in a list of built-in objects is an empty object
            for violation in bad:
                violation.steps.append(index)
            found = bad if found is None else found + bad
        if len(value) < least or (most is not None and len(value) > most):
            limits = f"at least {least}" if len(value) < least else f"at most {most}"
            found = [*(found or ()), Violation(What.VALUE, f"has {len(value)} items; {limits} are allowed")]
        if duplicates is not None and len(value) > 1 and (twice := duplicates(value)):
            found = [*(found or ()), *twice]
        return found

    return check


def _duplicate_finder(schema: Schema, items: Schema, *, custom: bool) -> Callable[[list[Any]], list[Violation]] | None:
    kind = schema.get("listType")
    if kind not in ("map", "set") and not schema.get("uniqueItems"):
        return None
    keys: tuple[str, ...] = tuple(schema.get("listMapKeys", ())) if kind == "map" else ()
    why = "the API server refuses it" if custom else "server-side apply refuses it, and other ways keep one of the two"
    defaults = {key: items.get("properties", {}).get(key, {}).get("default") for key in keys}
    if not custom:
        defaults |= {key: value for key, value in _BUILT_IN_DEFAULTS.items() if key in keys}

    def identity(item: Any) -> Any:
        if not keys:
            return item if isinstance(item, str) else repr(item)
        if item.__class__ is not dict:
            return None
        if len(keys) == 1 and (value := item.get(keys[0])).__class__ is str:
            return value
        return repr([item.get(key, defaults[key]) for key in keys])

    def name(item: Any) -> str:
        return ", ".join(f"{key} {shown(item.get(key, defaults[key]))}" for key in keys) if keys else shown(item)

    def find(value: list[Any]) -> list[Violation]:
        seen: dict[Any, int] = {}
        found: list[Violation] = []
        for index, item in enumerate(value):
            key = identity(item)
            if key is None:
                continue
            first = seen.setdefault(key, index)
            if first != index:
                message = f"repeats entry {first} of the list (`{name(item)}`); {why}"
                violation = Violation(What.DUPLICATE, message, help="keep one of the two")
                violation.steps.append(index)
                found.append(violation)
        return found

    return find
