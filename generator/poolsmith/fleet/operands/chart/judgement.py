"""Whether the chart of the operator renders values, and what it means by them: one answer for whoever asks.

`template`, `expand`, `generate` and `check` report what this says, with the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.operands.chart.chart_objects import ChartWorkloads, stack_objects
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, Projected, project
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAMESPACE
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.fleet.operands.chart.chart_objects import ChartError
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.projections import Projection

_MOST = 12


class Workloads:
    """What the chart makes of values over its own, and what other charts do that these reach: once of the values that
    were asked last."""

    def __init__(self) -> None:
        self._asked: tuple[str, dict[str, Any], str] | None = None
        self._made = ChartWorkloads()
        self._projected: tuple[str, dict[str, Any], HelmRelease, Projected] | None = None

    def resources(self, projection: Projection, chart: Chart, values: dict[str, Any], helm: HelmRelease) -> Projected:
        """The custom resources. Where a cluster serves more, the chart refuses less, and renders the same."""
        if self._projected is not None:
            release, asked, before, made = self._projected
            is_same = asked is values and (release, before.name) == (projection.release, helm.name)
            if is_same and not made.errors and set(before.api_versions) <= set(helm.api_versions):
                return made
        made = project(projection, chart.defaults, values, helm)
        self._projected = projection.release, values, helm, made
        return made

    def of(self, chart: Chart, release: str, values: dict[str, Any], helm: HelmRelease) -> ChartWorkloads:
        """What stands beside them. `values` are known again by being the same object, which nobody changes."""
        known = self._asked
        if known is None or known[1] is not values or (known[0], known[2]) != (release, helm.name):
            self._asked = release, values, helm.name
            merged = merge_over_defaults(chart.defaults, values)
            self._made = operator_chart_objects(release, merged, OPERATOR_NAMESPACE, helm.name, values)
        return self._made


def chart_errors(
    release: str, values: dict[str, Any], helm: HelmRelease | None = None, workloads: Workloads | None = None
) -> tuple[ChartError, ...]:
    """Why the chart renders nothing for `values` over its own, or something else than its templates mean.

    A template stops at the first value: those of `values` that are to blame are taken away one by one. Empty for a
    release that the catalog does not know.
    """
    projection, chart = read_projection(release), read_chart(OPERATOR_CHART, release)
    if projection is None or chart is None:
        return ()
    return _each(values, lambda left: _errors(projection, chart, left, helm or HelmRelease(), workloads or Workloads()))


def stack_chart_errors(chart: str, version: str, values: dict[str, Any]) -> tuple[ChartError, ...]:
    """The same of a chart beside the operator's; empty for one whose templates nobody has read."""
    return _each(values, lambda left: stack_objects(chart, version, left, chart).errors)


def _each(values: dict[str, Any], ask: Callable[[dict[str, Any]], tuple[ChartError, ...]]) -> tuple[ChartError, ...]:
    found: dict[ChartError, None] = {}
    left = values
    while len(found) < _MOST:
        errors = ask(left)
        fresh = [error for error in errors if error not in found]
        found |= dict.fromkeys(fresh)
        cut = left
        for error in fresh:
            cut = _without(cut, error.path.split("."))
        if cut is left:
            break
        left = cut
    return tuple(found)


def _errors(
    projection: Projection, chart: Chart, values: dict[str, Any], helm: HelmRelease, workloads: Workloads
) -> tuple[ChartError, ...]:
    projected = workloads.resources(projection, chart, values, helm)
    if projected.errors:
        return projected.errors
    return workloads.of(chart, projection.release, values, helm).errors


def _without(values: dict[str, Any], path: list[str]) -> dict[str, Any]:
    """The values without one of them, a list as a whole; the same where they do not have it."""
    for length in range(1, len(path) + 1):
        found = value_at(values, tuple(path[:length]), MISSING)
        if found is MISSING:
            return values
        if not isinstance(found, dict) or length == len(path):
            return _cut(values, path[:length])
    return values


def _cut(values: dict[str, Any], path: list[str]) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {key: value for key, value in values.items() if key != first}
    return {**values, first: _cut(values[first], rest)}
