"""Values to custom resources, as the chart of a release renders them, and the labels of the chart's helpers.

There are no templates here: the catalog says for each field which value reaches it and how. What a template can
stumble over (a null where it goes deeper, text that is no YAML) stops this as it stops Helm.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.chart.chart_objects import ChartError
from poolsmith.gpu.catalog.operator_names import OPERATOR_RELEASE
from poolsmith.kubernetes.helm.go_template import TemplateError, as_data, is_true, look_up, plain, quoted
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

if TYPE_CHECKING:
    from collections.abc import Collection

    from poolsmith.gpu.catalog.projections import Condition, FieldRule, ObjectRule, Projection


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


_APP_VERSION = "{appVersion}"
_NOTHING = object()


@record(kw_only=False)
class Projected:
    """Whole Kubernetes objects, or why the chart renders none; and what it renders besides, unseen here."""

    objects: tuple[dict[str, Any], ...] = ()
    errors: tuple[ChartError, ...] = ()
    notes: tuple[str, ...] = ()


@record(kw_only=False)
class HelmRelease:
    """What Helm knows beside the values. `api_versions` are the APIs that the cluster serves."""

    name: str = OPERATOR_RELEASE
    api_versions: Collection[str] = ()


def project(
    projection: Projection,
    defaults: dict[str, Any],
    values: dict[str, Any],
    helm: HelmRelease | None = None,
) -> Projected:
    """The custom resources for `values` on top of the chart's `defaults`. Neither is changed."""
    merged = merge_over_defaults(defaults, values)
    context = _Context(projection, merged, helm or HelmRelease())
    try:
        refused = context.refusal()
        if refused is not None:
            return Projected(errors=(ChartError("", refused, refusal=True),))
        objects = tuple(context.render(rule) for rule in projection.objects if context.renders(rule))
        return Projected(objects=objects, notes=context.notes())
    except TemplateError as error:
        return Projected(errors=(ChartError(error.path, str(error)),))


class _Context:
    """One rendering: the merged values, and what is asked of them."""

    def __init__(self, projection: Projection, values: dict[str, Any], helm: HelmRelease) -> None:
        self.projection = projection
        self.values = values
        self.helm = helm

    def refusal(self) -> str | None:
        """The first combination that the chart refuses."""
        for rule in self.projection.refusals:
            served = not rule.without_api.isdisjoint(self.helm.api_versions)
            if not served and self._hold(rule.conditions):
                return rule.message
        return None

    def renders(self, rule: ObjectRule) -> bool:
        return self._hold(rule.conditions)

    def notes(self) -> tuple[str, ...]:
        """What the chart also renders, through its template engine, and nobody looked at."""
        notes: list[str] = []
        for path in self.projection.templated:
            items = look_up(self.values, path)
            if is_true(items):
                count = len(items) if isinstance(items, list) else 1
                notes.append(f"{'.'.join(path)}: {count} not shown; the chart runs each through its template engine")
        return tuple(notes)

    def render(self, rule: ObjectRule) -> dict[str, Any]:
        metadata: dict[str, Any] = {"name": rule.name}
        if rule.labelled:
            metadata["labels"] = chart_labels(self.projection, self.values, self.helm.name)
        annotations = {key: value for key, value, conditions in rule.annotations if self._hold(conditions)}
        if annotations:
            metadata["annotations"] = annotations
        return {
            "apiVersion": rule.api_version,
            "kind": rule.kind,
            "metadata": metadata,
            "spec": self._spec(rule),
        }

    def _spec(self, rule: ObjectRule) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        closed: dict[tuple[str, ...], bool] = {}
        for field in rule.fields:
            if self._is_closed(rule, field.path, closed):
                continue
            value = self._value(field)
            node: dict[str, Any] = spec
            for key in field.path[:-1]:
                node = node.setdefault(key, {})
            if value is not _NOTHING:
                node[field.path[-1]] = value
        return _without_empty_blocks(spec, {field.path for field in rule.fields})

    def _is_closed(self, rule: ObjectRule, path: tuple[str, ...], closed: dict[tuple[str, ...], bool]) -> bool:
        """Whether a block around the field is left out as a whole."""
        for length in range(1, len(path)):
            block = path[:length]
            if block not in closed:
                closed[block] = not self._hold(rule.blocks.get(block, ()))
            if closed[block]:
                return True
        return False

    def _value(self, field: FieldRule) -> Any:
        if not self._hold(field.conditions):
            return copy.deepcopy(field.otherwise) if field.has_otherwise else _NOTHING
        if field.form == "constant":
            return copy.deepcopy(field.constant)
        if field.form == "operandLabels":
            return operand_labels(self.projection, self.values)
        value = look_up(self.values, field.source)
        if field.default is not None and not is_true(value):
            value = self.projection.release if field.default == _APP_VERSION else field.default
        if field.form == "data":
            return as_data(value, ".".join(field.source))
        return quoted(value) if field.form == "quoted" else plain(value, ".".join(field.source))

    def _hold(self, conditions: tuple[Condition, ...]) -> bool:
        """In the order written, up to the first that does not hold: what stands behind it is not asked."""
        for alternatives in conditions:
            for path, wanted in alternatives:
                if is_true(look_up(self.values, path)) is wanted:
                    break
            else:
                return False
        return True


def _without_empty_blocks(
    node: dict[str, Any], leaves: set[tuple[str, ...]], path: tuple[str, ...] = ()
) -> dict[str, Any]:
    """A block in which nothing was written is a key without a value: null."""
    result: dict[str, Any] = {}
    for key, value in node.items():
        below = (*path, key)
        if isinstance(value, dict) and below not in leaves:
            result[key] = _without_empty_blocks(value, leaves, below) or None
        else:
            result[key] = value
    return result
