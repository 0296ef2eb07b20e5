"""Fields that a cluster's delivery engine will always show as out of sync, what cures each, and the report text.

A cure is a value that is written out, or an entry by which the engine ignores the field.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.delivered import (
    DeliveredObject,
    DiffMode,
    EngineDiff,
    compared_by,
    custom_resources,
    delivered_objects,
)
from poolsmith.core.diagnostics.message_text import cut_inside
from poolsmith.core.facts.versions import line_of
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join, overlap, split, value_at
from poolsmith.fleet.plan.delivery.drift_prevention import DEFAULTS, NULLS
from poolsmith.fleet.plan.origin import Derived, FromProfile, profile_inputs
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_contents import REFUSED, nulls_of
from poolsmith.gpu.catalog.drift_facts import EffectFacts, effects, list_defaults, null_defaults, other_writers
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import CORE, NoSchema, Versions, read_cached, schemas_for
from poolsmith.kubernetes.server.server_fields import Effect, ServerField, server_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.kubernetes.schema.schemas import Schemas


_IGNORED_BY = {Engine.ARGOCD: "ignoreDifferences", Engine.FLUX: "driftDetection.ignore"}


class CureKind(StrEnum):
    VALUE = "value"
    IGNORED = "ignored"


@record
class Cure:
    """`text` is what is written for it: a value of the chart, or the field of the delivery object."""

    kind: CureKind
    text: str


def cured_by_values(plan: ClusterPlan) -> Iterator[tuple[ServerField, Cure]]:
    """Fields of the operator's custom resource that a pass has written a value for."""
    release = plan.cluster.spec.stack.release
    for setting in plan.values:
        if isinstance(setting.origin, Derived) and setting.origin.derivation == NULLS:
            null = next(item for item in nulls_of(release) if item.path == setting.path)
            effect = Effect.NULL_REFUSED if null.effect == REFUSED else Effect.NULL_FOR_DEFAULT
            yield (
                ServerField(pointer=join("/spec", *null.path), effect=effect, stored=null.value),
                Cure(kind=CureKind.VALUE, text=f"{null.dotted}: {_shown(null.value)}"),
            )
    yield from _completed_lists(plan, release)
    for default in null_defaults(release):
        held = plan.setting(*default.path)
        if held is not None and isinstance(held.origin, Derived) and held.origin.derivation == DEFAULTS:
            yield (
                ServerField(
                    pointer=join("/spec", *default.field), effect=Effect.NULL_FOR_DEFAULT, stored=default.value
                ),
                Cure(kind=CureKind.VALUE, text=f"{default.dotted}: {_shown(default.value)}"),
            )


def _completed_lists(plan: ClusterPlan, release: str) -> Iterator[tuple[ServerField, Cure]]:
    for default in list_defaults(release):
        for setting in plan.values:
            if isinstance(setting.origin, Derived) and setting.origin.derivation == DEFAULTS:
                for index in _completed(setting, default.path, default.field, default.value):
                    pointer = join("/spec", *default.path, str(index), default.field)
                    yield (
                        ServerField(pointer=pointer, effect=Effect.DEFAULT_IN_LIST, stored=default.value),
                        Cure(kind=CureKind.VALUE, text=f"{default.dotted}[{index}].{default.field}: {default.value}"),
                    )


def _completed(setting: ValueSetting, path: tuple[str, ...], field: str, value: Any) -> Iterator[int]:
    """Items of the list at `path` that have the value; which of them the user wrote so makes no difference."""
    if setting.path != path[: len(setting.path)]:
        return
    items = value_at(setting.value, path[len(setting.path) :])
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and item.get(field) == value:
            yield index


def _shown(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def ignored(plan: ClusterPlan, item: DeliveredObject, pointer: str, compared: EngineDiff) -> Cure | None:
    """The generated entry that covers a field: of the operator's Application or HelmRelease."""
    group = str(item.body.get("apiVersion", "")).rpartition("/")[0]
    for entry in plan.ignore_differences if item.of_operator else ():
        covered = any(pointer == path or pointer.startswith(f"{path}/") for path in entry["jsonPointers"])
        if covered and (entry["group"], entry["kind"]) == (group, item.body.get("kind")):
            return Cure(kind=CureKind.IGNORED, text=_IGNORED_BY[compared.engine])
    return None


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
    return schema_versions(
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


_DIFFS = {
    DiffMode.LEGACY: "legacy diff",
    DiffMode.SERVER_SIDE: "server-side diff",
    DiffMode.STRUCTURED_MERGE: "structured merge diff",
}
_LONGEST_VALUE = 60
_STORED = frozenset((Effect.NULL_FOR_DEFAULT, Effect.NULL_IN_LIST, Effect.DEFAULT_IN_LIST))


def engine_words(compared: EngineDiff) -> str:
    """An engine and its diff, as people call them."""
    engine = compared.engine
    return engine.called if engine is Engine.FLUX else f"{engine.called}, {_DIFFS[compared.diff]}"


def drift_words(item: Drift) -> str:
    """What the server makes of the field."""
    return f"{item.means}: {_as_json(item.stored)}" if item.effect in _STORED else item.means


def cure_words(cure: Cure) -> str:
    """What is written so that nothing is left to report."""
    return f"{'cured by the value' if cure.kind is CureKind.VALUE else 'cured by'} `{cure.text}`"


def _as_json(value: Any) -> str:
    return cut_inside(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)
