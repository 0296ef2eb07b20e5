"""From a chart's entry and values to the objects that Helm would install."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.chart.workloads.chart_objects import HOOK, ChartError, ChartWorkloads, ReleasePlace
from poolsmith.fleet.operands.chart.workloads.fill import fill, value_of
from poolsmith.fleet.operands.chart.workloads.unfold import unfold
from poolsmith.fleet.operands.chart.workloads.value_scope import ValueScope
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.kubernetes.helm.go_template import TemplateError, is_true, look_up
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.catalog.chart_workloads import ChartEntry

_GLOBAL = "global"


def render(
    entry: ChartEntry, values: dict[str, Any], place: ReleasePlace, variables: Mapping[str, Any] | None = None
) -> ChartWorkloads:
    """The objects of one chart and of the charts that it brings; `values` as templates see them."""
    try:
        scope = _scope(entry, values, place, variables or {})
        refused = fill(entry.refuse, scope)
        if refused:
            why = refused[0]
            error = TemplateError(why) if isinstance(why, str) else TemplateError(why["message"], why["at"])
            return _stopped(entry, error)
        own = _objects(entry, scope, place)
        subcharts = fill(entry.subcharts, scope)
    except TemplateError as error:
        return _stopped(entry, error)
    except (AttributeError, TypeError, ValueError):
        return _stopped(entry, TemplateError("a value is of another type than its place in an object"))
    for subchart in subcharts:
        own = own.with_more(_subchart(subchart, values, place))
    return own


def over_defaults(entry: ChartEntry, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the chart's templates see them."""
    return merge_over_defaults(entry.defaults or {}, dict(values))


def _scope(entry: ChartEntry, values: dict[str, Any], place: ReleasePlace, variables: Mapping[str, Any]) -> ValueScope:
    return ValueScope(
        values=values,
        define=entry.define,
        variables={
            **entry.facts,
            "chart": place.name,
            "version": entry.version,
            "helmRelease": place.helm_release,
            "namespace": place.namespace,
            "name": chart_name(place.name, values),
            "fullname": full_name(place.name, values, place.helm_release),
            **variables,
        },
    )


def _objects(entry: ChartEntry, scope: ValueScope, place: ReleasePlace) -> ChartWorkloads:
    namespace = _own_namespace(scope) or place.namespace if "ownNamespace" in entry.define else place.namespace
    items = [unfold(item, namespace) for item in fill(entry.objects, scope)]
    hooks = tuple(item for item in items if HOOK in item["metadata"].get("annotations", {}))
    return ChartWorkloads(
        objects=tuple(item for item in items if item not in hooks),
        hooks=hooks,
        unknown=tuple(f"{entry.chart} {entry.version}: {text}" for text in fill(entry.unknown, scope)),
    )


def _own_namespace(scope: ValueScope) -> str:
    """What the chart's values say. Raises TemplateError for what is no name to Kubernetes, `~` for one."""
    path = "namespaceOverride"
    if not is_true(scope.value(path)):
        return ""
    read = value_of("@ownNamespace", scope)
    if not isinstance(read, str):
        raise TemplateError(f"at <.Values.{path}>: what is read back is no name", path)
    return read


def _subchart(subchart: dict[str, str], values: dict[str, Any], place: ReleasePlace) -> ChartWorkloads:
    entry = read_chart_workloads(subchart["chart"], subchart["version"])
    if entry is None:
        return ChartWorkloads(unknown=(f"workloads of {subchart['chart']} {subchart['version']} are not known",))
    own = values.get(subchart["values"])
    merged = over_defaults(entry, _with_global(own if isinstance(own, dict) else {}, values.get(_GLOBAL)))
    inner = ReleasePlace(helm_release=place.helm_release, namespace=place.namespace, name=subchart["name"])
    rendered = render(entry, merged, inner)
    return replace(rendered, errors=tuple(error.below(subchart["values"]) for error in rendered.errors))


def _with_global(own: dict[str, Any], above: Any) -> dict[str, Any]:
    """The values of a bundled chart with those that all charts share: the upper chart's win."""
    if not isinstance(above, dict):
        return own
    below = own.get(_GLOBAL)
    return {**own, _GLOBAL: merge_files([below if isinstance(below, dict) else {}, above])}


def _stopped(entry: ChartEntry, why: TemplateError) -> ChartWorkloads:
    return ChartWorkloads(errors=(ChartError(why.path, f"{entry.chart} {entry.version} does not render: {why}"),))


LONGEST = 63


def chart_name(chart: str, values: dict[str, Any]) -> str:
    """The chart's name, or what `nameOverride` says. Raises TemplateError."""
    return _short(_override(values, "nameOverride") or chart)


def full_name(chart: str, values: dict[str, Any], helm_release: str) -> str:
    """What names of objects begin with: not twice the same, where the release is called like the chart.

    Raises TemplateError.
    """
    own = _override(values, "fullnameOverride")
    if own:
        return _short(own)
    name = _override(values, "nameOverride") or chart
    return _short(helm_release if name in helm_release else f"{helm_release}-{name}")


def _override(values: dict[str, Any], key: str) -> str:
    value = look_up(values, (key,))
    if not is_true(value):
        return ""
    if not isinstance(value, str):
        raise TemplateError(f"at <.Values.{key}>: trunc takes a string", key)
    return value


def _short(name: str) -> str:
    return name[:LONGEST].removesuffix("-")
