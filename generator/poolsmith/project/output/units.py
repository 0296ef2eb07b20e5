"""Further units: each a folder with a kustomization, and values where it installs a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.project.output.helm_values import reason, values_file
from poolsmith.project.output.kustomization import kustomization
from poolsmith.project.output.platform_unit import values_generator

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, UnitPlan


def render_units(plan: ClusterPlan, header: tuple[str, ...]) -> list[Manifest]:
    return [manifest for unit in plan.units for manifest in _unit(plan, unit, header)]


def has_kustomization(plan: ClusterPlan, unit: UnitPlan) -> bool:
    """A chart that Argo CD reads values for needs no objects of its own."""
    return bool(unit.objects) or (
        unit.chart is not None and values_generator(plan, unit.folder, unit.chart) is not None
    )


def _unit(plan: ClusterPlan, unit: UnitPlan, header: tuple[str, ...]) -> list[Manifest]:
    manifests = [
        Manifest(
            path=f"{unit.folder}/{item.file}",
            documents=(item.body,),
            header=(*header, "", f"{unit.title}.", *reason(item.origin)),
        )
        for item in unit.objects
    ]
    resources = [item.file for item in unit.objects]
    if has_kustomization(plan, unit):
        generator = values_generator(plan, unit.folder, unit.chart) if unit.chart is not None else None
        manifests.append(kustomization(unit.folder, resources, header, generator))
    if unit.chart is not None:
        intro = f"Helm values for {unit.chart.name} {unit.chart.version}: what differs from the chart's defaults."
        manifests.append(values_file(unit.chart.values_file, unit.values, (*header, "", intro)))
    return manifests
