"""What the API server would refuse in a custom resource, and what it would drop silently.

A structural check of exactly that much: types, enums, patterns, bounds, required fields; unknown fields are
pruned, not refused. A null counts as absent, and a required field with a default is not missed.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from poolsmith.core.record import record

_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


@record(frozen=False, kw_only=False)
class CrdFindings:
    """Paths as `.spec.driver.env[0].value`, sorted."""

    violations: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.violations and not self.pruned


def check_spec(spec: Any, schema: dict[str, Any]) -> CrdFindings:
    """`spec` against the `spec` of a kind's schema."""
    findings = CrdFindings()
    _check(spec, schema["properties"]["spec"], ".spec", findings)
    findings.violations.sort()
    findings.pruned.sort()
    return findings


def _check(value: Any, schema: dict[str, Any], path: str, findings: CrdFindings) -> None:
    if value is None:
        return
    wrong = _type_problem(value, schema)
    if wrong:
        findings.violations.append(f"{path}: {wrong}")
        return
    findings.violations.extend(f"{path}: {problem}" for problem in _value_problems(value, schema))
    if isinstance(value, dict):
        _check_object(value, schema, path, findings)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, schema.get("items", {}), f"{path}[{index}]", findings)


def _check_object(value: dict[str, Any], schema: dict[str, Any], path: str, findings: CrdFindings) -> None:
    properties: dict[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") is True or bool(others)
    for key in schema.get("required", ()):
        if value.get(key) is None and "default" not in properties.get(key, {}):
            findings.violations.append(f"{path}: missing required field {key}")
    for key, item in value.items():
        below = f"{path}.{key}"
        if key in properties:
            _check(item, properties[key], below, findings)
        elif isinstance(others, dict):
            _check(item, others, below, findings)
        elif not keeps:
            findings.pruned.append(below)


def _type_problem(value: Any, schema: dict[str, Any]) -> str | None:
    name = next(name for kind, name in _NAMES if isinstance(value, kind))
    if schema.get("x-kubernetes-int-or-string"):
        return None if name in ("integer", "string") else f"expected integer or string, got {name}"
    wanted = schema.get("type")
    if wanted is None or name == wanted or (wanted == "number" and name == "integer"):
        return None
    return f"expected {wanted}, got {name}"


def _value_problems(value: Any, schema: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{value!r} is not one of {schema['enum']!r}")
    if isinstance(value, str) and "pattern" in schema and re.search(schema["pattern"], value) is None:
        problems.append(f"{value!r} does not match {schema['pattern']}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            problems.append(f"{value} is less than {schema['minimum']}")
        if "maximum" in schema and value > schema["maximum"]:
            problems.append(f"{value} is greater than {schema['maximum']}")
    return problems
