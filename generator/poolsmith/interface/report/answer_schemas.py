"""The shapes of what verbs print as JSON that is no report of findings, and their JSON Schemas.

A shape is a type, a set of words, a list with the shape of its items, a tuple of shapes of which one holds, or a
mapping of fields; a name that ends in `?` is of a field that may be left out, and `*` stands for any name.
"""

from __future__ import annotations

from typing import Any

from poolsmith.core.diagnostics import Severity
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.reach import Reach

ANY = object()
"""Whatever users wrote: an object of Kubernetes, or a value."""
_REACH = frozenset(map(str, Reach))
_TEXT_OR_NONE = (str, None)
_DIAGNOSTIC = "Diagnostic"
_CHANGE = {
    "change": frozenset(map(str, ChangeKind)),
    "namespace": str,
    "workload": str,
    "container": str,
    "old": _TEXT_OR_NONE,
    "new": _TEXT_OR_NONE,
    "reach": _REACH,
    "poolsBefore": [str],
    "poolsAfter": [str],
}
_LINE = {
    "pool": str,
    "namespace": str,
    "workload": str,
    "container": str,
    "privilege": str,
    "reach": _REACH,
    "origins": [str],
}
_DRIVER = ({"owner": str, "image": str}, None)
_RELEASE = {
    "release": str,
    "generated": bool,
    "values": int,
    "dead": [str],
    "comes": [str],
    "goes": [str],
    "nodeFeatureDiscoveryChart": _TEXT_OR_NONE,
    "pack?": {"name": str, "version": str, "source": str, "sha256": str},
    "unknown?": [str],
}
_DRIFT = {
    "apiVersion": str,
    "kind": str,
    "namespace": str,
    "name": str,
    "unit": str,
    "field": str,
    "effect": str,
    "words": str,
    "stored": ANY,
    "reportedBy": [str],
    "refusedBy": [str],
    "told": bool,
    "cure": ({"kind": str, "text": str}, None),
    "onlyIf": _TEXT_OR_NONE,
    "from": ({"path": str, "pointer": str, "line": (int, None)}, None),
}
_RESULT = {
    "policy": str,
    "binding": _TEXT_OR_NONE,
    "validation": (int, None),
    "verdict": str,
    "action": _TEXT_OR_NONE,
    "message": _TEXT_OR_NONE,
    "denied": bool,
    "reason": _TEXT_OR_NONE,
    "code": (int, None),
    "actions": [str],
    "params": ANY,
    "pointer": _TEXT_OR_NONE,
    "object": str,
}
_DECISION = {
    "object": str,
    "operation": str,
    "allowed": bool,
    "code": (int, None),
    "reason": _TEXT_OR_NONE,
    "message": _TEXT_OR_NONE,
    "warnings": [str],
    "auditAnnotations": {"*": str},
}
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "ledger": (
        "What containers may do, or what settings or another pool change of it",
        {
            "clusters": [
                {
                    "cluster": str,
                    "release": str,
                    "pools": [str],
                    "lines?": [_LINE],
                    "lacks?": [_LINE],
                    "changes?": [_CHANGE],
                    "drivers?": [{"change": str, "pool": str, "old": _DRIVER, "new": _DRIVER, "what": str}],
                    "unknown": [str],
                    "errors": [str],
                    "notes": [str],
                }
            ]
        },
    ),
    "ledger-releases": (
        "What one release lets containers do and another does not (`ledger --release-diff`)",
        {
            "from": str,
            "to": str,
            "parts": [{"title": str, "values": [str], "changes": [_CHANGE], "unknown": [str]}],
        },
    ),
    "images": (
        "The images that nodes pull",
        {
            "clusters": [
                {
                    "cluster": str,
                    "images": [{"image": str, "workloads": [str], "pools": [str], "systems?": [str]}],
                }
            ],
            "unknown": [{"cluster": str, "what": str}],
        },
    ),
    "image-copies": (
        "What to copy into mirrors (`images --copy-plan json`)",
        {
            "images": [
                {
                    "source": str,
                    "destination": _TEXT_OR_NONE,
                    "digest": _TEXT_OR_NONE,
                    "architectures": [str],
                    "clusters": [str],
                }
            ],
            "charts": [{"name": str, "version": str, "source": str, "destination": _TEXT_OR_NONE, "clusters": [str]}],
            "packages": [{"system": str, "what": str, "config": _TEXT_OR_NONE, "pools": [str]}],
            "repositories": [str],
            "unknown": [{"cluster": str, "what": str}],
        },
    ),
    "drift": (
        "What an engine would always show as out of sync",
        {
            "clusters": [
                {
                    "cluster": str,
                    "release": str,
                    "kubernetes": str,
                    "engine": str,
                    "diff": str,
                    "objects": int,
                    "defaultsThatNoDiffShows": int,
                    "drift": [_DRIFT],
                    "unknown": [str],
                }
            ]
        },
    ),
    "explain": (
        "Why a value or a pool is as it is",
        {
            "text": str,
            "values": [
                {
                    "file": str,
                    "path": str,
                    "value": ANY,
                    "default": ANY,
                    "origin": [
                        {
                            "depth": int,
                            "text": str,
                            "path": _TEXT_OR_NONE,
                            "line": (int, None),
                            "pointer": _TEXT_OR_NONE,
                        }
                    ],
                }
            ],
        },
    ),
    "rules": (
        "The rules",
        {
            "rules": [
                {
                    "code": str,
                    "name": str,
                    "severity": frozenset(item.value for item in Severity),
                    "appliesTo": str,
                    "what": str,
                }
            ]
        },
    ),
    "releases": ("The releases that are known (`catalog list`)", {"releases": [_RELEASE]}),
    "policy-eval": (
        "What admission policies say of objects",
        {
            "kubernetes": str,
            "allowed": bool,
            "results": [_RESULT],
            "notMatched": [{"object": str, "policy": str, "binding": _TEXT_OR_NONE, "why": str}],
            "decisions": [_DECISION],
            "notes": [str],
            "diagnostics": [_DIAGNOSTIC],
        },
    ),
    "policy-test": (
        "Whether admission policies say what their tests want",
        {
            "summary": {"cases": int, "passed": int, "failed": int},
            "cases": [
                {
                    "file": str,
                    "name": str,
                    "policy": str,
                    "passed": bool,
                    "expected": _TEXT_OR_NONE,
                    "actual": _TEXT_OR_NONE,
                    "message": _TEXT_OR_NONE,
                    "why": _TEXT_OR_NONE,
                }
            ],
            "diagnostics": [_DIAGNOSTIC],
        },
    ),
    "expand": (
        "What the operator makes of a ClusterPolicy",
        {
            "release": str,
            "objects": [ANY],
            "nodeLabels": {"*": ANY},
            "images": [str],
            "conditions": [{"kind": str, "name": str, "state": _TEXT_OR_NONE, "conditions": [ANY]}],
            "errors": [str],
            "unknown": [str],
        },
    ),
    "template": ("What a chart makes of values", {"release": str, "objects": [ANY], "errors": [str]}),
}
"""Of each kind its title, and what it has beside `version`."""


def answer_properties(kind: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Title, the schemas of the fields, and which of them may be left out."""
    title, shape = SHAPES[kind]
    body = _schema(shape)
    properties: dict[str, Any] = body["properties"]
    return title, properties, tuple(name for name in properties if name not in body["required"])


def uses_diagnostics(kind: str) -> bool:
    return any(shape == [_DIAGNOSTIC] for shape in SHAPES[kind][1].values())


def _schema(shape: Any) -> dict[str, Any]:
    if shape is ANY:
        return {}
    if shape is None:
        return {"type": "null"}
    if shape == _DIAGNOSTIC:
        return {"$ref": f"#/$defs/{_DIAGNOSTIC}"}
    if isinstance(shape, frozenset):
        return {"enum": sorted(shape)}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(item) for item in shape]}
    return _mapping(shape) if isinstance(shape, dict) else {"type": _NAMES[shape]}


def _mapping(shape: dict[str, Any]) -> dict[str, Any]:
    if "*" in shape:
        return {"type": "object", "additionalProperties": _schema(shape["*"])}
    return {
        "type": "object",
        "required": [name for name in shape if not name.endswith("?")],
        "properties": {name.removesuffix("?"): _schema(item) for name, item in shape.items()},
    }


_NAMES: dict[Any, str] = {str: "string", int: "integer", bool: "boolean"}
