"""The first unit: namespaces, shared configuration, and the operator's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.project.output.helm_values import reason, values_file
from poolsmith.project.output.kustomization import config_map_from_file, kustomization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, NamespacePlan

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
    return f"{plan.name}-{chart.name}-values"


def delivery_namespace(plan: ClusterPlan) -> str:
    """Where the objects of the GitOps engine live."""
    delivery = plan.cluster.spec.delivery
    return delivery.namespace or ("argocd" if delivery.engine is Engine.ARGOCD else "flux-system")


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
