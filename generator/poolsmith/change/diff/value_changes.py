"""Helm values before and after a change, of all charts of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.kubernetes.server.field_change import Standing
from poolsmith.kubernetes.server.field_changes import field_changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
    from poolsmith.kubernetes.server.field_change import FieldChange


def value_changes(before: SeenCluster, after: SeenCluster) -> tuple[FieldChange, ...]:
    """Of what differs from the charts' defaults; pointers begin with the release that Helm installs.

    What becomes the chart's default, or was the default of the release before, is as it was and left out.
    """

    def place(pointer: str) -> Location | None:
        release, *path = split(pointer)
        return _line(after, release, tuple(path))

    found = field_changes(_values(before.plan), _values(after.plan), place=place, leaves=True)
    return tuple(item for item in found if not _is_as_it_was(item, before, after))


def _is_as_it_was(item: FieldChange, before: SeenCluster, after: SeenCluster) -> bool:
    if item.standing is Standing.CHANGED:
        return False
    side, value = (before, item.new) if item.standing is Standing.ADDED else (after, item.old)
    release, *path = split(item.pointer)
    chart = side.prediction.origins.chart
    if chart is None or side.plan.chart is None or release != side.plan.chart.name:
        return False
    default = chart.default(tuple(path))
    return type(default) is type(value) and bool(default == value)


def _values(plan: ClusterPlan) -> dict[str, Any]:
    return {release: values_tree(settings) for release, settings in _of_charts(plan)}


def _of_charts(plan: ClusterPlan) -> Iterator[tuple[str, tuple[ValueSetting, ...]]]:
    """Each chart's release has its name."""
    if plan.chart is not None:
        yield plan.chart.name, plan.values
    for unit in plan.units:
        if unit.chart is not None:
            yield unit.chart.name, unit.values


def _line(seen: SeenCluster, release: str, path: tuple[str, ...]) -> Location | None:
    """The first line of a profile that a value goes back to."""
    for name, settings in _of_charts(seen.plan):
        for setting in settings if name == release else ():
            length = min(len(setting.path), len(path))
            if setting.path[:length] == path[:length]:
                for line in profile_inputs(setting.origin):
                    if (file := seen.loaded.files.get(line.path)) is not None:
                        return file.locate(line.pointer)
    return None
