"""What keeps a field from being reported for ever: a value that is written out, or an entry that ignores it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.plan.chart_nulls import DERIVATION as NULLS
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.server_defaults import DERIVATION as DEFAULTS
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.chart_nulls import REFUSED, nulls_of
from poolsmith.gpu.catalog.drift_facts import list_defaults, null_defaults
from poolsmith.kubernetes.server.server_fields import Effect, ServerField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.drift.delivered import DeliveredObject
    from poolsmith.change.drift.diffs import EngineDiff
    from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting

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
