"""What a cluster's GitOps engine is pointed at, in order, before it is put into an engine's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.project.output.platform_unit import FOLDER as PLATFORM
from poolsmith.project.output.pools import FOLDER as POOLS
from poolsmith.project.output.units import has_kustomization

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, GitSource, HelmChart, UnitPlan


@record
class DeliveryUnit:
    """A folder of ours, a chart, or a pinned folder in somebody else's repository."""

    name: str
    title: str
    namespace: str
    folder: str = ""
    chart: HelmChart | None = None
    source: GitSource | None = None
    is_operator: bool = False

    @property
    def values_folder(self) -> str:
        """The unit that holds the chart's values."""
        return self.chart.values_file.partition("/values/")[0] if self.chart is not None else ""


def delivery_units(plan: ClusterPlan, folders: frozenset[str]) -> tuple[DeliveryUnit, ...]:
    """In the order in which they should come up. `folders` are those that have a kustomization."""
    units: list[DeliveryUnit] = []
    for unit in plan.units:
        if unit.before_platform:
            units.extend(_of_unit(plan, unit))
    if PLATFORM in folders:
        refers = "operator" if plan.chart is not None else "stack"
        units.append(
            DeliveryUnit(
                name="platform",
                title=f"Namespaces and configuration that the {refers} refers to",
                namespace=plan.namespace,
                folder=PLATFORM,
            )
        )
    if plan.chart is not None:
        units.append(
            DeliveryUnit(
                name=plan.chart.name,
                title=f"NVIDIA GPU Operator {plan.chart.version}",
                namespace=plan.namespace,
                chart=plan.chart,
                is_operator=True,
            )
        )
    for unit in plan.units:
        if not unit.before_platform:
            units.extend(_of_unit(plan, unit))
    if POOLS in folders:
        units.append(
            DeliveryUnit(name="pools", title="What each pool has of its own", namespace=plan.namespace, folder=POOLS)
        )
    return tuple(units)


def _of_unit(plan: ClusterPlan, unit: UnitPlan) -> list[DeliveryUnit]:
    found = []
    if unit.source is not None:
        found.append(
            DeliveryUnit(
                name=f"{unit.name}-upstream",
                title=f"{unit.title}; its own manifests, pinned",
                namespace=unit.namespace,
                source=unit.source,
            )
        )
    if has_kustomization(plan, unit):
        found.append(DeliveryUnit(name=unit.name, title=unit.title, namespace=unit.namespace, folder=unit.folder))
    if unit.chart is not None:
        name = f"{unit.name}-chart" if has_kustomization(plan, unit) else unit.name
        found.append(DeliveryUnit(name=name, title=unit.title, namespace=unit.namespace, chart=unit.chart))
    return found
