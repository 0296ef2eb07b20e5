"""Definitions of the operator's resources that are older than its release.

Helm never upgrades what a chart has in `crds/`, and the server drops fields that a definition lacks without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.release import other_release
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import OTHER_VERSION
from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.live.definitions import OPERATOR_GROUP
from poolsmith.kubernetes.live.resources import DEFINITIONS
from poolsmith.kubernetes.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic

_ANYTHING = "x-kubernetes-preserve-unknown-fields"
_FEW = 3


def judge_definitions(view: LiveView) -> Iterator[Diagnostic]:
    """Against the schemas of the committed release, where that one runs."""
    release = view.cluster.plan.cluster.spec.stack.release
    if view.cluster.plan.chart is None or other_release(view):
        return
    schemas = schemas_for(Versions(kubernetes=newest_kubernetes(), operator=release))
    for body in view.snapshot.items(DEFINITIONS):
        spec = mapping(body.get("spec"))
        if spec.get("group") != OPERATOR_GROUP:
            continue
        for version in mappings(spec.get("versions")):
            live = mapping(mapping(version.get("schema")).get("openAPIV3Schema"))
            kind = word(mapping(spec.get("names")).get("kind"))
            schema = schemas.find(f"{OPERATOR_GROUP}/{word(version.get('name'))}", kind) if live else None
            if isinstance(schema, KindSchema):
                wanted = mapping(mapping(schema.definition.get("properties")).get("spec"))
                held = mapping(mapping(live.get("properties")).get("spec"))
                if lacks := list(_lacking(wanted, held, schema.compiler.resolve, "spec")):
                    yield _older(view, str(body["metadata"]["name"]), lacks)


def _lacking(
    wanted: Mapping[str, Any], held: Mapping[str, Any], resolve: Callable[[Any], Mapping[str, Any]], path: str
) -> Iterator[str]:
    """Fields that the server would drop; of a field that is not there nothing below it."""
    wanted = resolve(wanted)
    if held.get(_ANYTHING) is True:
        return
    there = mapping(held.get("properties"))
    for key, value in mapping(wanted.get("properties")).items():
        if key not in there:
            yield f"{path}.{key}"
        else:
            yield from _lacking(value, mapping(there[key]), resolve, f"{path}.{key}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(wanted.get(keyword), dict) and isinstance(held.get(keyword), dict):
            yield from _lacking(wanted[keyword], held[keyword], resolve, path)


def _older(view: LiveView, name: str, lacks: list[str]) -> Diagnostic:
    fields = f"{counted(len(lacks), 'field')} ({listed(lacks, _FEW)})"
    message = (
        f"`CustomResourceDefinition/{name}` of cluster `{view.cluster.name}` is older than release "
        f"{view.cluster.plan.cluster.spec.stack.release}: it lacks {fields}, which the API server drops"
    )
    place = view.cluster.of_cluster("/spec/stack/release")
    subject = view.cluster.subject("CustomResourceDefinition", name)
    return diagnose(OTHER_VERSION, message, place, subject=subject)
