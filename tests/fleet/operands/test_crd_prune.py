"""What the API server refuses, and what it drops."""

from __future__ import annotations

import pytest

from poolsmith.gpu.importing.chart_import import structural
from poolsmith.kubernetes.server.crd_prune import check_spec

SPEC = {
    "type": "object",
    "description": "prose",
    "required": ["mode", "given"],
    "properties": {
        "mode": {"type": "string", "enum": ["on", "off"], "description": "prose"},
        "given": {"type": "string", "default": "x"},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "either": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "env": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "string"}}}},
        "description": {"type": "string"},
    },
}
SCHEMA = {"properties": {"spec": SPEC}}


@pytest.mark.parametrize(
    ("spec", "violations", "pruned"),
    [
        ({}, [], []),
        ({"count": None, "env": None}, [], []),
        ({"mode": "auto"}, [".spec.mode: 'auto' is not one of ['on', 'off']"], []),
        ({"mode": True}, [".spec.mode: expected string, got boolean"], []),
        ({"count": -1}, [".spec.count: -1 is less than 0"], []),
        ({"count": 10}, [".spec.count: 10 is greater than 9"], []),
        ({"count": 1.5}, [".spec.count: expected integer, got number"], []),
        ({"either": 1}, [], []),
        ({"either": "25%"}, [], []),
        ({"either": True}, [".spec.either: expected integer or string, got boolean"], []),
        ({"name": "A1"}, [".spec.name: 'A1' does not match ^[a-z]+$"], []),
        ({"labels": {"a": 1}}, [".spec.labels.a: expected string, got integer"], []),
        ({"free": {"a": {"b": 1}}}, [], []),
        ({"env": [{"value": "x", "other": 1}]}, [], [".spec.env[0].other"]),
        ({"env": {"a": 1}}, [".spec.env: expected array, got object"], []),
        ({"b": 1, "a": 1}, [], [".spec.a", ".spec.b"]),
    ],
    ids=str,
)
def test_findings(spec, violations, pruned):
    findings = check_spec({"mode": "on", **spec}, SCHEMA)

    assert (findings.violations, findings.pruned) == (violations, pruned)
    assert findings.clean is not bool(violations or pruned)


def test_a_missing_required_field_is_told_unless_it_has_a_default():
    assert check_spec({}, SCHEMA).violations == [".spec: missing required field mode"]


def test_a_structural_schema_has_no_prose_but_keeps_a_field_of_that_name():
    kept = structural(SPEC)

    assert "description" not in kept
    assert kept["properties"]["description"] == {"type": "string"}
    assert kept["properties"]["mode"] == {"type": "string", "enum": ["on", "off"]}
    assert check_spec({"mode": "on"}, {"properties": {"spec": kept}}).clean
