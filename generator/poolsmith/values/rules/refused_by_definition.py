"""Values that the chart hands on as they are, and that the typed object they end in does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.projections import read_projection
from poolsmith.diagnostics import RuleInfo
from poolsmith.diagnostics.finding import Finding
from poolsmith.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.catalog.projections import Condition, FieldRule, ObjectRule
    from poolsmith.schema.violation import Violation
    from poolsmith.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM330",
    name="refused-by-definition",
    applies_to="values",
    what="Helm values set something that the chart copies into an object whose definition does not take it: a field "
    "that the definition lacks, as `valueFrom` in a component's `env`, a null, a missing field, a value out of bounds.",
    why="Server-side apply refuses the whole ClusterPolicy, NVIDIADriver or workload, so nothing of the release is "
    "installed; without it the field is dropped, and has no effect.",
    bad="devicePlugin:\n  env:\n    - name: MODE\n      valueFrom: {secretKeyRef: {name: a, key: b}}\n",
    good="devicePlugin:\n  env:\n    - name: MODE\n      value: x\n",
    references=("the CustomResourceDefinitions of the release", "the OpenAPI definitions of Kubernetes"),
)
_TOLERATIONS = tuple(
    (*place, "tolerations")
    for place in (
        ("operator",),
        *(("node-feature-discovery", part) for part in ("master", "worker", "gc", "topologyUpdater")),
    )
)
"""Copied into Deployments and DaemonSets."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    projection = read_projection(document.release.tag)
    if projection is not None and document.release.line_defaults is not None:
        for item in projection.objects:
            fields = [
                field for field in item.fields if field.form == "data" and _has_entries(document.get(field.source))
            ]
            if fields and _holds(document, item.conditions):
                yield from _of_object(document, item, fields)
    for place in _TOLERATIONS:
        if _has_entries(value := document.get(place)):
            yield from _tolerations(place, value)


def _of_object(document: ValuesDocument, item: ObjectRule, fields: list[FieldRule]) -> Iterator[Finding[ValuePlace]]:
    from poolsmith.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for  # on demand

    versions = Versions(kubernetes=newest_kubernetes(), operator=document.release.tag)
    kind = schemas_for(versions).find(item.api_version, item.kind)
    if not isinstance(kind, KindSchema):
        return
    for field in fields:
        blocks = (item.blocks.get(field.path[:length], ()) for length in range(1, len(field.path)))
        if not all(_holds(document, conditions) for conditions in (field.conditions, *blocks)):
            continue
        schema: Any = kind.definition["properties"]["spec"]
        for key in field.path:
            schema = kind.compiler.resolve(schema).get("properties", {}).get(key, {})
        found = kind.compiler.check(schema)(document.get(field.source))
        yield from _told(field.source, document.get(field.source), found or (), item.kind)


def _tolerations(place: tuple[str, ...], value: Any) -> Iterator[Finding[ValuePlace]]:
    from poolsmith.schema.schemas import core_compiler, newest_kubernetes  # on demand

    schema = {"type": "array", "items": {"$ref": "core.v1.Toleration"}}
    found = core_compiler(newest_kubernetes()).check(schema)(value)
    yield from _told(place, value, found or (), "pod")


def _has_entries(value: Any) -> bool:
    """Whether a list of mappings is in it: of anything else, other rules know more."""
    if isinstance(value, dict):
        return any(map(_has_entries, value.values()))
    return isinstance(value, list) and any(item is None or isinstance(item, dict) for item in value)


def _holds(document: ValuesDocument, conditions: tuple[Condition, ...]) -> bool:
    """As the chart asks, over its own defaults."""
    return all(any(bool(document.effective(path)) is wanted for path, wanted in term) for term in conditions)


def _told(place: tuple[str, ...], value: Any, found: Any, kind: str) -> Iterator[Finding[ValuePlace]]:
    """What stands in a list; of what does not, other rules know more."""
    violation: Violation
    violations = [item for item in found if not (item.what == "type" and _number(value, tuple(reversed(item.steps))))]
    for violation in violations:
        steps = tuple(reversed(violation.steps))
        if not violation.grave or not any(isinstance(step, int) for step in steps):
            continue
        path = (*place, *steps)
        what = f"`{dotted(path)}` {_said(violation)}" if steps else _said(violation)
        yield Finding(place=path, message=f"{what}; the chart copies it into the {kind}", help=violation.help)


def _said(violation: Violation) -> str:
    return "is no field of this definition" if violation.what == "unknown-field" else violation.message


def _number(value: Any, steps: tuple[str | int, ...]) -> bool:
    """A number for a text, of which PSM324 says more, or an entry that is none: PSM303."""
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return False
    last = steps[-1]
    return isinstance(last, int) or (last == "value" and isinstance(value, (bool, int, float)))
