"""JSON Schemas (Draft 2020-12) of whatever verbs print as JSON, version 1.

That of a diff is made from the records that the report is made from, so the two can't differ.
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
from poolsmith.core.shape.field import camel_case
from poolsmith.guard.ledger.ledger_delta import Change
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.interface.report.answer_schemas import answer_properties, uses_diagnostics
from poolsmith.interface.report.audit import PrivilegeAudit
from poolsmith.interface.report.discovery import Discovery
from poolsmith.interface.report.inventory import Inventory
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_LATE = {
    item.__name__: item for item in (Action, Change, Departure, Diagnostic, FieldChange, Location, Privilege, Standing)
}
"""Types that modules know to type checkers only."""
_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_MOMENT = {**_TEXT, "format": "date-time"}
_ENVELOPE = {
    "version": {"const": 1, "description": "Grows when a field goes or means something else, not when one is added."},
    "tool": {**_TEXT, "description": "Name and version of what made the report."},
}
_LOCATION = {
    "description": "A place in a file. Without line and column it is the whole file.",
    "properties": {
        "path": {**_TEXT, "description": "Relative to the project's root, with forward slashes."},
        "line": {"type": ["integer", "null"], "minimum": 1},
        "column": {"type": ["integer", "null"], "minimum": 1, "description": "Counts code points."},
        "pointer": {**_TEXT, "description": "JSON pointer (RFC 6901) into the document."},
        "note": _TEXT,
    },
    "optional": ("note",),
}
_DIAGNOSTIC = {
    "description": "A finding of a rule.",
    "properties": {
        "code": {**_TEXT, "pattern": "^PSM[0-9]{3}$"},
        "name": _TEXT,
        "severity": {"enum": [item.value for item in Severity]},
        "message": _TEXT,
        "subject": {**_TEXT, "description": "What the finding is about, such as a cluster and a pool."},
        "primary": {"$ref": "#/$defs/Location"},
        "related": {"type": "array", "items": {"$ref": "#/$defs/Location"}},
        "help": {"type": ["string", "null"]},
        "fingerprint": {**_TEXT, "pattern": "^[0-9a-f]{32}$", "description": "Stable while lines move."},
        "status": {"enum": ["open", "waived"]},
        "firstSeen": {**_MOMENT, "description": "Of a running cluster: when a run first reported it."},
    },
    "optional": ("firstSeen",),
}
_CHECK_SUMMARY = {
    "description": "What was looked at, and how many findings there are that nobody has waived.",
    "properties": {
        "checked": _COUNT,
        "checkedByKind": {"type": "object", "additionalProperties": _COUNT},
        "skipped": _COUNT,
        "skippedReasons": {"type": "array", "items": {"$ref": "#/$defs/Skipped"}},
        "waived": _COUNT,
        "notEvaluated": _COUNT,
        "acceptedUnknown": _COUNT,
        "errors": _COUNT,
        "warnings": _COUNT,
        "notes": _COUNT,
    },
}
_SKIPPED = {"description": "What was not looked at.", "properties": {"what": _TEXT, "reason": _TEXT}}
_COVERAGE = {
    "description": "Of files that anyone wrote: the configurations of the GPU stack, and those that nobody judged.",
    "properties": {
        "configurations": _COUNT,
        "judged": _COUNT,
        "unjudged": {"type": "array", "items": {"$ref": "#/$defs/Unjudged"}},
    },
}
_UNJUDGED = {
    "description": "What was not judged, why, and what to add.",
    "properties": {"what": _TEXT, "why": _TEXT, "add": _TEXT},
}
_SHARD = {
    "description": "Of a run with --shard: what `poolsmith report merge` puts together. Only that reads the last two.",
    "properties": {
        "number": {"type": "integer", "minimum": 1},
        "of": {"type": "integer", "minimum": 1},
        "work": {"enum": ["check", "generate --check", "generate"]},
        "clusters": {"type": "array", "items": _TEXT},
        "question": _TEXT,
        "results": _TEXT,
    },
}
_DIFF_SUMMARY = {
    "description": "What matters, in one line.",
    "properties": {"verdict": _TEXT, "weight": {"enum": [item.value for item in Weight]}},
}


def report_schema() -> dict[str, Any]:
    """Of `check`, `generate` and whatever else has findings."""
    properties = {
        **_ENVELOPE,
        "summary": {"$ref": "#/$defs/Summary"},
        "diagnostics": {"type": "array", "items": {"$ref": "#/$defs/Diagnostic"}},
        "judged": {
            **_TEXT,
            "description": "What was judged, where that is a commit, the index, or the work tree of a change.",
        },
        "needs": {
            "type": "object",
            "additionalProperties": _COUNT,
            "description": "Names that something needs: supplied here, from outside, or without a supplier.",
        },
        "coverage": {"$ref": "#/$defs/Coverage"},
        "shard": {"$ref": "#/$defs/Shard"},
        "taken": {**_MOMENT, "description": "When the cluster was read."},
    }
    definitions = {
        "Summary": _object(_CHECK_SUMMARY),
        "Coverage": _object(_COVERAGE),
        "Unjudged": _object(_UNJUDGED),
        "Shard": _object(_SHARD),
        "Skipped": _object(_SKIPPED),
        "Diagnostic": _object(_DIAGNOSTIC),
        "Location": _object(_LOCATION),
    }
    return _document(
        "report",
        "The findings of a run",
        properties,
        definitions,
        optional=("judged", "needs", "coverage", "shard", "taken"),
    )


def diff_schema() -> dict[str, Any]:
    definitions = {
        "Summary": _object(_DIFF_SUMMARY),
        "Diagnostic": _object(_DIAGNOSTIC),
        "Location": _object(_LOCATION),
    }
    properties = {**_ENVELOPE, "summary": {"$ref": "#/$defs/Summary"}, **_properties(ChangeReport, definitions)}
    return _document("diff", "What a change does", properties, definitions)


def inventory_schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    properties = {**_ENVELOPE, **_properties(Inventory, definitions)}
    return _document("inventory", "What the pools of a fleet have", properties, definitions)


def upgrade_schema() -> dict[str, Any]:
    """Of the verbs that edit profiles: what the edit does is told as any other change is."""
    return diff_schema() | {"$id": _address("upgrade"), "title": "What an upgrade or a move does"}


def audit_schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    properties = {**_ENVELOPE, **_properties(PrivilegeAudit, definitions)}
    return _document(
        "audit", "Who had which privilege, from when until when, and by which grant", properties, definitions
    )


def answer_schema(kind: str) -> dict[str, Any]:
    """Of an answer that is no report of findings."""
    title, properties, optional = answer_properties(kind)
    used = uses_diagnostics(kind)
    definitions = {"Diagnostic": _object(_DIAGNOSTIC), "Location": _object(_LOCATION)} if used else {}
    version = {"version": _ENVELOPE["version"]}
    return _document(kind, title, {**version, **properties}, definitions, optional)


def discovery_schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    properties = {**_ENVELOPE, **_properties(Discovery, definitions)}
    return _document("discovery", "Profiles that were proposed for a cluster", properties, definitions)


def _address(name: str) -> str:
    return f"poolsmith/v1/{name}.schema.json"


def _document(
    name: str, title: str, properties: dict[str, Any], definitions: dict[str, Any], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    body = _object({"properties": properties, "optional": optional})
    return {
        "$schema": _DRAFT,
        "$id": _address(name),
        "title": title,
        **body,
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def _object(body: dict[str, Any]) -> dict[str, Any]:
    """All fields are there but the `optional` ones. Later versions of poolsmith may add some."""
    optional = body.get("optional", ())
    return {
        "type": "object",
        **({"description": body["description"]} if "description" in body else {}),
        "required": [name for name in body["properties"] if name not in optional],
        "properties": body["properties"],
    }


def _properties(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(record, localns=_LATE)
    return {camel_case(item.name): _schema(hints[item.name], definitions) for item in fields(record)}


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = get_origin(hint)
    if hint is Any:
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
    return dict(_PLAIN[hint])


_PLAIN: dict[Any, dict[str, Any]] = {
    str: _TEXT,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    type(None): {"type": "null"},
}
