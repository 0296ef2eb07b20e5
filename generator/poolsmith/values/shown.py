"""User text in messages: paths, values and types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.shape.reader import kind_of, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "int-or-string": (int, str),
    "array": (list,),
    "object": (dict,),
}
_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "int-or-string": "an integer or a string",
    "array": "a list",
    "object": "a mapping",
}
__all__ = ["TYPES", "dotted", "fits", "kind_of", "named", "shorten"]


def dotted(path: Iterable[str | int]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{shorten(step)}" if text else shorten(step)
    return text


def fits(declared: str, value: Any) -> bool:
    """Whether a value is of a type; null deletes a default, whatever its type."""
    expected = TYPES.get(declared)
    if expected is None or value is None:
        return True
    if isinstance(value, bool):
        return bool in expected
    return isinstance(value, expected)


def named(declared: str) -> str:
    return _NAMES[declared]
