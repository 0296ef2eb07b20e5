"""The second unit: an overlay per pool, and toolkit-base/, what the toolkits of pools have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import copied, value_at
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.plan import NFD
from poolsmith.fleet.plan.plan import TOOLKIT_ENTRYPOINT as ENTRYPOINT
from poolsmith.fleet.plan.plan import TOOLKIT_NAME as NAME
from poolsmith.project.output.helm_values import reason
from poolsmith.project.output.kustomization import FILE, Variant, common, kustomization, patches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolDriverObject, PoolPlan, ToolkitOverlay


TOOLKIT_FOLDER = "toolkit-base"
BELOW_POOL = "toolkit"
_FILES = {
    "DaemonSet": "daemon-set",
    "ServiceAccount": "service-account",
    "Role": "role",
    "RoleBinding": "role-binding",
    "ConfigMap": "config-map",
}


def render_toolkits(
    plan: ClusterPlan, objects: Mapping[str, Sequence[KubernetesObject]], header: tuple[str, ...]
) -> list[Manifest]:
    """The base, and a kustomization below each pool's folder. `objects` are what pools are to get, by pool."""
    overlays = [item for item in plan.toolkit_overlays if objects.get(item.pool)]
    if not overlays:
        return []
    by_pool = [[_without_pool(_base_names(body, item), item) for body in objects[item.pool]] for item in overlays]
    base = [common(alike) for alike in zip(*by_pool, strict=True)]
    lines = (*header, "", "What the pools' own toolkits have in common; not applied by itself.")
    manifests = [
        Manifest(path=f"{TOOLKIT_FOLDER}/{_FILES[item['kind']]}.yaml", documents=(item,), header=lines) for item in base
    ]
    manifests.append(
        kustomization(TOOLKIT_FOLDER, [item.path.removeprefix(f"{TOOLKIT_FOLDER}/") for item in manifests], lines)
    )
    manifests += [_variant(base, objects[item.pool], item, header) for item in overlays]
    return manifests


def _variant(
    base: Sequence[KubernetesObject],
    objects: Sequence[KubernetesObject],
    overlay: ToolkitOverlay,
    header: tuple[str, ...],
) -> Manifest:
    changes = {
        (item["kind"], item["metadata"]["name"]): list(patches(item, _base_names(target, overlay)))
        for item, target in zip(base, objects, strict=True)
    }
    variant = Variant(overlay.suffix, {key: operations for key, operations in changes.items() if operations})
    folder = f"pools/{overlay.pool}/{BELOW_POOL}"
    lines = (*header, "", *reason(overlay.origin))
    return kustomization(folder, [f"../../../{TOOLKIT_FOLDER}"], lines, variant=variant)


def _base_names(item: KubernetesObject, overlay: ToolkitOverlay) -> KubernetesObject:
    """The object under the names that kustomize puts the pool's suffix to."""
    named = copied(item)
    plain = {overlay.name: NAME, overlay.entrypoint: ENTRYPOINT}
    pod = value_at(named, ("spec", "template", "spec"), {})
    holders: list[tuple[dict[str, Any], str]] = [(named["metadata"], "name"), (pod, "serviceAccountName")]
    holders += [(named.get("roleRef", {}), "name")]
    holders += [(subject, "name") for subject in named.get("subjects", ())]
    holders += [(volume.get("configMap", {}), "name") for volume in pod.get("volumes", ())]
    for holder, key in holders:
        if holder.get(key) in plain:
            holder[key] = plain[holder[key]]
    return dict(named)


def _without_pool(item: KubernetesObject, overlay: ToolkitOverlay) -> KubernetesObject:
    """Without what only this pool can have: so the base stays the same, whichever pools there are."""
    if item["kind"] != "DaemonSet":
        return item
    shared = copied(item)
    template = shared["spec"]["template"]
    for holder in (
        shared["metadata"]["labels"],
        shared["spec"]["selector"]["matchLabels"],
        template["metadata"]["labels"],
    ):
        holder["app"] = NAME
    del template["spec"]["nodeSelector"][overlay.pool_label]
    return dict(shared)


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
        "metadata": {"name": f"poolsmith-{pool.object_name}"},
        "spec": {
            "rules": [
                {
                    "name": f"pool {pool.object_name}",
                    "labels": _written(pool),
                    "matchFeatures": [{"feature": "system.name", "matchExpressions": expression}],
                }
            ]
        },
    }
