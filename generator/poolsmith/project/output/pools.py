"""The second unit: an overlay per pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.plan import NFD
from poolsmith.project.output.helm_values import reason
from poolsmith.project.output.kustomization import FILE, kustomization
from poolsmith.project.output.toolkit_base import BELOW_POOL, render_toolkits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolDriverObject, PoolPlan

FOLDER = "pools"


def render_pools(
    plan: ClusterPlan, toolkits: Mapping[str, Sequence[KubernetesObject]], header: tuple[str, ...]
) -> list[Manifest]:
    """A pool that needs no object of its own has no overlay; kustomize refuses empty ones.

    `toolkits` are the objects of pools that get a toolkit of their own.
    """
    drivers = {item.pool: item for item in plan.driver_objects}
    manifests: list[Manifest] = render_toolkits(plan, toolkits, header)
    with_toolkit = {item.path for item in manifests}
    overlays: list[str] = []
    for pool in plan.pools:
        found = _overlay(pool, drivers.get(pool.name), header)
        folder = f"{FOLDER}/{pool.name}"
        resources = [manifest.path.removeprefix(f"{folder}/") for manifest in found]
        if f"{folder}/{BELOW_POOL}/{FILE}" in with_toolkit:
            resources.append(BELOW_POOL)
        if resources:
            overlays.append(pool.name)
            manifests.extend(found)
            manifests.append(kustomization(folder, resources, header))
    if overlays:
        manifests.append(kustomization(FOLDER, overlays, header))
    return manifests


def _overlay(pool: PoolPlan, driver: PoolDriverObject | None, header: tuple[str, ...]) -> list[Manifest]:
    folder = f"{FOLDER}/{pool.name}"
    found = []
    if driver is not None:
        lines = (*header, "", *reason(driver.origin))
        found.append(Manifest(path=f"{folder}/nvidia-driver.yaml", documents=(driver.body,), header=lines))
    if pool.node_names:
        lines = (
            *header,
            "",
            "Writes labels on the nodes that the profile names: the pool's, and what keeps operands off.",
        )
        if len(_written(pool)) == 1:
            lines = (*header, "", "Writes the pool label on the nodes that the profile names.")
        body = _node_feature_rule(pool)
        found.append(Manifest(path=f"{folder}/node-feature-rule.yaml", documents=(body,), header=lines))
    return found


def _written(pool: PoolPlan) -> dict[str, str]:
    return {label.key: label.value for label in sorted(pool.labels, key=lambda item: item.key) if label.writer == NFD}


def _node_feature_rule(pool: PoolPlan) -> dict[str, Any]:
    expression = {"nodename": {"op": "In", "value": list(pool.node_names)}}
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": f"poolsmith-{pool.name}"},
        "spec": {
            "rules": [
                {
                    "name": f"pool {pool.name}",
                    "labels": _written(pool),
                    "matchFeatures": [{"feature": "system.name", "matchExpressions": expression}],
                }
            ]
        },
    }
