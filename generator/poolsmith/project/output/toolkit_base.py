"""toolkit-base/: what the toolkits of pools have in common, and the variant of it that a pool gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import copied, value_at
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.fleet.plan.toolkit_overlay import ENTRYPOINT, NAME
from poolsmith.project.output.helm_values import reason
from poolsmith.project.output.kustomization import Variant, kustomization
from poolsmith.project.output.shared_parts import common, patches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.plan.toolkit_overlay import ToolkitOverlay

FOLDER = "toolkit-base"
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
        Manifest(path=f"{FOLDER}/{_FILES[item['kind']]}.yaml", documents=(item,), header=lines) for item in base
    ]
    manifests.append(kustomization(FOLDER, [item.path.removeprefix(f"{FOLDER}/") for item in manifests], lines))
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
    return kustomization(folder, [f"../../../{FOLDER}"], lines, variant=variant)


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
