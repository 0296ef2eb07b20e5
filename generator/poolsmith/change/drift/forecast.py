"""What a cluster's delivery engine will report as different for ever, and what keeps it from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.cures import cured_by_values, ignored
from poolsmith.change.drift.delivered import DeliveredObject, custom_resources, delivered_objects
from poolsmith.change.drift.diffs import EngineDiff, compared_by
from poolsmith.core.facts.versions import line_of
from poolsmith.core.record import record
from poolsmith.core.sources.nested import overlap
from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import FromProfile, profile_inputs
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.drift_facts import EffectFacts, effects, other_writers
from poolsmith.kubernetes.schema.schemas import CORE, NoSchema, Versions, read_cached, schemas_for
from poolsmith.kubernetes.server.server_fields import Effect, server_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.change.drift.cures import Cure
    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.schema.schemas import Schemas
    from poolsmith.kubernetes.server.server_fields import ServerField

_CRD = "apiextensions.k8s.io/v1"


@record
class Drift:
    """One field of one object. `reported` and `refused` are diffs, as `engine/diff`; `cure` is what we write for it.

    `when` is set for what only happens under a condition that no profile tells.
    """

    api_version: str
    kind: str
    name: str
    namespace: str
    unit: str
    field: str
    effect: Effect
    means: str
    given: Any
    stored: Any
    reported: frozenset[str]
    refused: frozenset[str] = frozenset()
    cure: Cure | None = None
    when: str = ""
    advice: str = ""
    place: FromProfile | None = None

    @property
    def what(self) -> str:
        """The object and the field, as people write them."""
        return f"{self.kind}/{self.name} {self.field}"

    def fails_in(self, compared: EngineDiff) -> bool:
        """Whether this diff, or the sync that goes with it, ends in an error."""
        return str(compared) in self.refused

    def is_told_by(self, compared: EngineDiff) -> bool:
        """Whether this diff shows it, or fails at it, for as long as nothing cures it."""
        return str(compared) in self.reported | self.refused


@record
class Forecast:
    """Of one cluster. `drifts` are those that some engine tells, `added` counts defaults that none does.

    `objects` is how many were looked at, `unknown` which could not be.
    """

    cluster: str
    release: str
    kubernetes: str
    compared: EngineDiff
    drifts: tuple[Drift, ...] = ()
    objects: int = 0
    added: int = 0
    unknown: tuple[str, ...] = ()

    def uncured(self) -> tuple[Drift, ...]:
        """What the cluster's own engine and diff will tell for ever."""
        return tuple(
            item for item in self.drifts if item.cure is None and not item.when and item.is_told_by(self.compared)
        )


def forecast(
    plan: ClusterPlan,
    prediction: Prediction,
    admission: Sequence[Manifest] = (),
    compared: EngineDiff | None = None,
) -> Forecast:
    """All that is delivered; `compared` stands for what the plan's own delivery takes."""
    compared = compared or compared_by(plan)
    release = plan.cluster.spec.stack.release
    schemas = schemas_for(_versions(plan))
    known = effects()
    found: list[Drift] = []
    unknown: dict[str, None] = {}
    added = 0
    objects = delivered_objects(plan, prediction, admission)
    for item in objects:
        fields = _fields(item, schemas)
        if isinstance(fields, str):
            unknown[fields] = None
            continue
        for field in fields:
            facts = known[field.effect]
            if not facts.reported and not facts.refused:
                added += 1
            else:
                found.append(_drift(plan, item, field, facts, ignored(plan, item, field.pointer, compared)))
    found.extend(_cured(plan, prediction, known))
    found.extend(_of_others(plan))
    return Forecast(
        cluster=plan.name,
        release=release,
        kubernetes=plan.cluster.spec.kubernetes.version,
        compared=compared,
        drifts=tuple(found),
        objects=len(objects),
        added=added,
        unknown=tuple(unknown),
    )


def _versions(plan: ClusterPlan) -> Versions:
    stack = plan.cluster.spec.stack
    return Versions(
        kubernetes=line_of(plan.cluster.spec.kubernetes.version),
        operator=stack.release if stack.by_operator else None,
        coco=Catalog().sandboxes.coco_operator["release"],
    )


def _fields(item: DeliveredObject, schemas: Schemas) -> list[ServerField] | str:
    """Or why nobody can tell: the kind, without a definition."""
    api_version, kind = str(item.body.get("apiVersion")), str(item.body.get("kind"))
    if api_version.rpartition("/")[0] in read_cached(CORE).groups:
        return []
    schema = schemas.find(api_version, kind)
    if isinstance(schema, NoSchema):
        return f"{kind} ({api_version}): {schema.reason}"
    return list(server_fields(item.body, schema))


def _drift(
    plan: ClusterPlan, item: DeliveredObject, field: ServerField, facts: EffectFacts, cure: Cure | None
) -> Drift:
    return Drift(
        api_version=str(item.body["apiVersion"]),
        kind=str(item.body["kind"]),
        name=item.name,
        namespace=item.namespace,
        unit=item.unit,
        field=field.pointer,
        effect=field.effect,
        means=facts.means,
        given=field.given,
        stored=field.stored,
        reported=facts.reported,
        refused=facts.refused,
        cure=cure,
        place=_place(plan, field.pointer) if item.of_operator else None,
    )


def _place(plan: ClusterPlan, pointer: str) -> FromProfile | None:
    """The line of a profile that a field of the operator's custom resource goes back to; values have the same paths."""
    path = tuple(split(pointer.removeprefix("/spec")))
    for setting in plan.values:
        if overlap(setting.path, path):
            return next(iter(profile_inputs(setting.origin)), None)
    return plan.stack_line


def _cured(plan: ClusterPlan, prediction: Prediction, known: dict[Effect, EffectFacts]) -> Iterator[Drift]:
    """What would be told if no value were written for it, of the resources that the chart renders."""
    cured = list(cured_by_values(plan))
    for item in custom_resources(plan, prediction) if cured else ():
        for field, cure in cured:
            yield _drift(plan, item, field, known[field.effect], cure)


def _of_others(plan: ClusterPlan) -> Iterator[Drift]:
    if plan.chart is None:
        return
    for other in other_writers(plan.cluster.spec.stack.release):
        yield Drift(
            api_version=_CRD,
            kind=other.kind,
            name=other.name,
            namespace="",
            unit=plan.chart.name,
            field=other.field,
            effect=Effect.OTHERS,
            means=other.means,
            given=None,
            stored=None,
            reported=other.reported,
            when=other.when,
            advice=other.advice,
            place=plan.stack_line,
        )
