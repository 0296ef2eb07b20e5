"""JSON Schemas (Draft 2020-12) of whatever verbs print as JSON, version 1.

Those of a diff and of other answers with records of their own are made from these records, so the two can't differ. The
rest is written down: `data/answers/reports.yaml` has what stands in reports of findings, `data/answers/shapes.yaml` the
shapes of other answers.
"""

from __future__ import annotations

import enum
import types
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from poolsmith.change.delivery.outcomes import Action, Departure
from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.change.diff.change_sections import Weight
from poolsmith.core.diagnostics import Diagnostic, Location, Severity
from poolsmith.core.facts import store
from poolsmith.core.shape.field import camel_case
from poolsmith.guard.ledger.ledger_delta import Change, ChangeKind
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.reach import Reach
from poolsmith.interface.report.audit import PrivilegeAudit
from poolsmith.interface.report.discovery import Discovery
from poolsmith.interface.report.inventory import Inventory
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REPORTS, _SHAPES = "answers/reports.yaml", "answers/shapes.yaml"
_LATE: dict[str, Any] = {"Any": Any} | {
    item.__name__: item for item in (Action, Change, Departure, Diagnostic, FieldChange, Location, Privilege, Standing)
}
"""Types that modules know to type checkers only."""
_DIAGNOSTIC = "Diagnostic"
_ENUMS: dict[str, Any] = {item.__name__: item for item in (Severity, Weight, Reach, ChangeKind)}
_PLAIN: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", type(None): "null"}
_RECORDS: dict[str, tuple[str, type]] = {
    "diff": ("What a change does", ChangeReport),
    "upgrade": ("What an upgrade or a move does", ChangeReport),
    "inventory": ("What the pools of a fleet have", Inventory),
    "audit": ("Who had which privilege, from when until when, and by which grant", PrivilegeAudit),
    "discovery": ("Profiles that were proposed for a cluster", Discovery),
}
"""Answers that are records, with their titles. What an edit of profiles does is told as any other change is."""


def answer_schema(name: str) -> dict[str, Any]:
    """Of whatever verbs print as JSON, by its name."""
    written = store.table(_REPORTS)
    envelope, common = written["envelope"], _objects(written["definitions"])
    if name == "report":
        body = {**written["findings"], "properties": {**envelope, **written["findings"]["properties"]}}
        return _document(name, "The findings of a run", body, common | _objects(written["report"]))
    if name in _RECORDS:
        title, record = _RECORDS[name]
        is_change = record is ChangeReport
        definitions = common | _objects(written["diff"]) if is_change else {}
        summary = {"summary": {"$ref": "#/$defs/Summary"}} if is_change else {}
        properties = {**envelope, **summary, **_properties(record, definitions)}
        return _document(name, title, {"properties": properties}, definitions)
    answer = answers()[name]
    shape = _shape(answer["shape"])
    optional = [field for field in shape["properties"] if field not in shape["required"]]
    body = {"properties": {"version": envelope["version"], **shape["properties"]}, "optional": optional}
    return _document(name, answer["title"], body, common if [_DIAGNOSTIC] in answer["shape"].values() else {})


def answers() -> dict[str, Any]:
    """Of answers without records of their own, by kind: the title, and the shape of what they have beside `version`."""
    found: dict[str, Any] = store.table(_SHAPES)["answers"]
    return found


def _address(name: str) -> str:
    return f"poolsmith/v1/{name}.schema.json"


def _document(name: str, title: str, body: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": _DRAFT,
        "$id": _address(name),
        "title": title,
        **_object(body),
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def _objects(written: dict[str, Any]) -> dict[str, Any]:
    return {name: _object(body) for name, body in written.items()}


def _object(body: dict[str, Any]) -> dict[str, Any]:
    """All fields are there but the `optional` ones. Later versions of poolsmith may add some."""
    optional = body.get("optional", ())
    return {
        "type": "object",
        **({"description": body["description"]} if "description" in body else {}),
        "required": [name for name in body["properties"] if name not in optional],
        "properties": {name: _with_words(schema) for name, schema in body["properties"].items()},
    }


def _with_words(schema: dict[str, Any]) -> dict[str, Any]:
    """With the words of a type in place of its name."""
    named = schema.get("enum")
    return {"enum": [str(item.value) for item in _ENUMS[named]]} if isinstance(named, str) else schema


def _properties(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(record, localns=_LATE)
    return {camel_case(item.name): _schema(hints[item.name], definitions) for item in fields(record)}


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Of the type of a record's field."""
    origin = get_origin(hint)
    if hint in (Any, object):
        return {}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(item, definitions) for item in get_args(hint)]}
    if origin is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0], definitions)}
    if is_dataclass(hint) and isinstance(hint, type):
        name = hint.__name__
        if name not in definitions:
            definitions[name] = {}
            about = " ".join((hint.__doc__ or "").split())
            definitions[name] = _object({"description": about, "properties": _properties(hint, definitions)})
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    return {"type": _PLAIN[hint]}


def _shape(shape: Any) -> dict[str, Any]:
    """Of a shape, as `data/answers/shapes.yaml` writes it."""
    if isinstance(shape, list):
        return {"type": "array", "items": _shape(shape[0])}
    if isinstance(shape, dict):
        return _mapping(shape)
    if " or " in shape:
        return {"anyOf": [_shape(word) for word in shape.split(" or ")]}
    if shape in _PLAIN.values():
        return {"type": shape}
    if shape in _ENUMS:
        return {"enum": sorted(map(str, _ENUMS[shape]))}
    if shape == _DIAGNOSTIC:
        return {"$ref": f"#/$defs/{_DIAGNOSTIC}"}
    return {} if shape == "any" else _shape(store.table(_SHAPES)["named"][shape])


def _mapping(shape: dict[str, Any]) -> dict[str, Any]:
    if "*" in shape:
        return {"type": "object", "additionalProperties": _shape(shape["*"])}
    return {
        "type": "object",
        "required": [name for name in shape if not name.endswith("?")],
        "properties": {name.removesuffix("?"): _shape(item) for name, item in shape.items()},
    }
