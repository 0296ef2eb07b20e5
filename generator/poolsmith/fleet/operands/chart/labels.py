"""The labels that a chart's helpers put on its objects and operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.helm.go_template import TemplateError, as_data, is_true, look_up, plain

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.projections import Projection

_LONGEST = 63
_MANAGED_BY = "app.kubernetes.io/managed-by"
_CHART = "helm.sh/chart"


def chart_labels(projection: Projection, values: dict[str, Any], helm_release: str) -> dict[str, Any]:
    """What the chart puts on the objects of the operator; `operator.labels` go with them."""
    return common_labels(projection, values, helm_release) | {"app.kubernetes.io/component": projection.chart}


def common_labels(projection: Projection, values: dict[str, Any], helm_release: str) -> dict[str, Any]:
    """What the chart puts on everything else that has labels."""
    labels: dict[str, Any] = {
        "app.kubernetes.io/name": plain(_name(projection, values), "nameOverride"),
        _CHART: _chart(projection),
        "app.kubernetes.io/instance": plain(helm_release, "Release.Name"),
        "app.kubernetes.io/version": projection.release,
        _MANAGED_BY: "Helm",
    }
    _add(labels, values, ("operator", "labels"))
    return labels


def operand_labels(projection: Projection, values: dict[str, Any]) -> dict[str, Any]:
    """What the operator is to put on the workloads that it creates."""
    labels: dict[str, Any] = {
        _CHART: _chart(projection),
        _MANAGED_BY: plain(_name(projection, values), "nameOverride"),
    }
    _add(labels, values, ("daemonsets", "labels"))
    return labels


def _name(projection: Projection, values: dict[str, Any]) -> str:
    override = look_up(values, ("nameOverride",))
    if not is_true(override):
        return projection.chart
    if not isinstance(override, str):
        raise TemplateError("at <.Values.nameOverride>: trunc takes a string", "nameOverride")
    return override[:_LONGEST].removesuffix("-")


def _chart(projection: Projection) -> str:
    return f"{projection.chart}-{projection.release}".replace("+", "_")[:_LONGEST].removesuffix("-")


def _add(labels: dict[str, Any], values: dict[str, Any], path: tuple[str, ...]) -> None:
    own = look_up(values, path)
    if not is_true(own):
        return
    if not isinstance(own, dict):
        shown = ".".join(path)
        raise TemplateError(f"at <.Values.{shown}>: the labels are not a map, and what is rendered is no YAML", shown)
    labels |= as_data(own, ".".join(path))
