"""Delivery units, in order, before an engine's objects are made of them: the platform unit and the further ones.

The first unit has namespaces, shared configuration, and the operator's values. Each further unit is a folder with a
kustomization, and values where it installs a chart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.project.output.helm_values import reason, values_file
from poolsmith.project.output.kustomization import config_map_from_file, kustomization
from poolsmith.project.output.pools import FOLDER as POOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.fleet.plan.plan import ClusterPlan, GitSource, HelmChart, NamespacePlan, UnitPlan


FOLDER = "platform"
PRUNE_GUARDS = {
    Engine.ARGOCD: {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"},
    Engine.FLUX: {"kustomize.toolkit.fluxcd.io/prune": "disabled"},
}
VALUES_KEY = "values.yaml"
_LEVELS = ("enforce", "audit", "warn")


def render_platform(plan: ClusterPlan, header: tuple[str, ...], admission: Sequence[Manifest] = ()) -> list[Manifest]:
    """Nothing at all when the cluster needs neither namespace nor configuration nor values.

    `admission` are manifests below the same folder: what its API server is to enforce.
    """
    manifests: list[Manifest] = []
    if plan.namespaces:
        engine = plan.cluster.spec.delivery.engine
        documents = tuple(_namespace(item, engine) for item in plan.namespaces)
        lines = (*header, "", *(line for item in plan.namespaces for line in reason(item.origin)))
        manifests.append(Manifest(path=f"{FOLDER}/namespaces.yaml", documents=documents, header=lines))
    for item in (*plan.quotas, *plan.config_maps):
        lines = (*header, "", *reason(item.origin))
        manifests.append(Manifest(path=f"{FOLDER}/{item.file}", documents=(item.body,), header=lines))
    manifests.extend(admission)
    generator = None
    if plan.chart is not None:
        generator = values_generator(plan, FOLDER, plan.chart)
    resources = [manifest.path.removeprefix(f"{FOLDER}/") for manifest in manifests]
    if resources or generator is not None:
        manifests.append(kustomization(FOLDER, resources, header, generator))
    if plan.chart is not None:
        intro = f"Helm values for {plan.chart.name} {plan.chart.version}: what differs from the chart's defaults."
        manifests.append(values_file(plan.chart.values_file, plan.values, (*header, "", intro)))
    return manifests


def values_generator(plan: ClusterPlan, folder: str, chart: HelmChart) -> dict[str, Any] | None:
    """Flux takes values from a ConfigMap beside the HelmRelease; Argo CD reads the file itself."""
    if plan.cluster.spec.delivery.engine is not Engine.FLUX:
        return None
    return config_map_from_file(
        name=values_config_map(plan, chart),
        namespace=delivery_namespace(plan),
        key=VALUES_KEY,
        file=chart.values_file.removeprefix(f"{folder}/"),
        labels={"reconcile.fluxcd.io/watch": "Enabled"},
    )


def values_config_map(plan: ClusterPlan, chart: HelmChart) -> str:
    return f"{plan.delivery_name}-{chart.name}-values"


def delivery_namespace(plan: ClusterPlan) -> str:
    """Where the objects of the GitOps engine live."""
    return plan.cluster.spec.delivery.objects_namespace


def pod_security_labels(level: str) -> dict[str, str]:
    return {f"pod-security.kubernetes.io/{mode}": level for mode in _LEVELS}


def namespace_patch(level: str) -> dict[str, Any]:
    """A kustomize patch that labels the namespace which somebody else's manifests bring: it keeps one owner."""
    body = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "any", "labels": pod_security_labels(level)},
    }
    return {"target": {"kind": "Namespace"}, "patch": emit(body)}


def _namespace(item: NamespacePlan, engine: Engine) -> dict[str, Any]:
    labels = pod_security_labels(item.level)
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": item.name, "labels": labels, "annotations": PRUNE_GUARDS[engine]},
    }


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
    if FOLDER in folders:
        refers = "operator" if plan.chart is not None else "stack"
        units.append(
            DeliveryUnit(
                name="platform",
                title=f"Namespaces and configuration that the {refers} refers to",
                namespace=plan.namespace,
                folder=FOLDER,
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
