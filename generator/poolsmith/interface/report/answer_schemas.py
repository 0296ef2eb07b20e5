"""JSON Schemas of what verbs print as JSON that is no report of findings, from `data/answers/shapes.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.facts import store
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import Enum

_FILE = "answers/shapes.yaml"
_DIAGNOSTIC = "Diagnostic"
_ENUMS: Sequence[type[Enum]] = (Reach, ChangeKind, Severity)
_WORDS: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("string", "integer", "boolean", "null")},
    **{item.__name__: {"enum": sorted(map(str, item))} for item in _ENUMS},
    _DIAGNOSTIC: {"$ref": f"#/$defs/{_DIAGNOSTIC}"},
    "any": {},
}


def answers() -> dict[str, Any]:
    """By kind its title, and the shape of what it has beside `version`."""
    found: dict[str, Any] = store.table(_FILE)["answers"]
    return found


def answer_properties(kind: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Title, the schemas of the fields, and which of them may be left out."""
    answer = answers()[kind]
    body = _schema(answer["shape"])
    properties: dict[str, Any] = body["properties"]
    return answer["title"], properties, tuple(name for name in properties if name not in body["required"])


def uses_diagnostics(kind: str) -> bool:
    return [_DIAGNOSTIC] in answers()[kind]["shape"].values()


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if isinstance(shape, dict):
        return _mapping(shape)
    if " or " in shape:
        return {"anyOf": [_schema(word) for word in shape.split(" or ")]}
    return _WORDS[shape] if shape in _WORDS else _schema(store.table(_FILE)["named"][shape])


def _mapping(shape: dict[str, Any]) -> dict[str, Any]:
    if "*" in shape:
        return {"type": "object", "additionalProperties": _schema(shape["*"])}
    return {
        "type": "object",
        "required": [name for name in shape if not name.endswith("?")],
        "properties": {name.removesuffix("?"): _schema(item) for name, item in shape.items()},
    }
