"""The labels that the operator writes on nodes, which decide what runs where.

Source: NVIDIA/gpu-operator:controllers/state_manager.go, from v26.7.0 controllers/nodelabeling_controller.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.gpu.catalog.node_labels import (
    DEPLOY,
    DEPLOY_MIG_MANAGER,
    DEPLOY_OPERANDS,
    GPU_PRESENT,
    MIG_CONFIG,
    WORKLOAD,
    has_gpu,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion import Node


UPGRADE_ANNOTATION = "nvidia.com/gpu-driver-upgrade-enabled"
_DISABLED = "all-disabled"
_MIG_PRODUCTS = ("h100", "a100", "a30")


def is_mig_capable(labels: Mapping[str, str]) -> bool:
    if labels.get("nvidia.com/vgpu.host-driver-version"):
        return False
    if "nvidia.com/mig.capable" in labels:
        return labels["nvidia.com/mig.capable"] == "true"
    product = labels.get("nvidia.com/gpu.product", "").lower()
    return any(name in product for name in _MIG_PRODUCTS)


def workload_of(labels: Mapping[str, str], policy: ClusterPolicySpec, states: Mapping[str, Any]) -> str:
    """container, vm-passthrough or vm-vgpu."""
    if not policy.sandboxes:
        return "container"
    asked = labels.get(WORKLOAD, "")
    return asked if asked in states else policy.default_workload


def labels_after(node: Node, policy: ClusterPolicySpec, behaviour: Mapping[str, Any]) -> dict[str, str]:
    """All labels of a node once the operator settled, but for the owner of its driver."""
    labels = dict(node.labels)
    states: Mapping[str, list[str]] = behaviour["nodeLabels"]
    everything = {DEPLOY + name for names in states.values() for name in names}
    everything |= {DEPLOY + name for name in behaviour["kataLabels"]} | {DEPLOY_MIG_MANAGER}
    if labels.get(GPU_PRESENT) != "true" and has_gpu(labels):
        labels[GPU_PRESENT] = "true"
    elif labels.get(GPU_PRESENT) == "true" and not has_gpu(labels):
        labels[GPU_PRESENT] = "false"
        return {key: value for key, value in labels.items() if key not in everything}
    if labels.get(GPU_PRESENT) != "true":
        sweeps = behaviour["sweepsNodesWithoutGpu"]
        return {key: value for key, value in labels.items() if not sweeps or key not in everything}
    if labels.get(DEPLOY_OPERANDS) == "false":
        labels = {key: value for key, value in labels.items() if key not in everything}
    else:
        labels = _with_states(labels, workload_of(labels, policy, states), policy, behaviour, everything)
    starts_disabled = policy.text("migManager", "config", "default") == _DISABLED
    if policy.enabled("migManager") and starts_disabled and is_mig_capable(labels) and not labels.get(MIG_CONFIG):
        labels[MIG_CONFIG] = _DISABLED
    return labels


def _with_states(
    labels: dict[str, str], workload: str, policy: ClusterPolicySpec, behaviour: Mapping[str, Any], everything: set[str]
) -> dict[str, str]:
    wanted = {DEPLOY + name for name in behaviour["nodeLabels"][workload]}
    if workload == "vm-passthrough" and policy.sandbox_mode == "kata" and behaviour["kataLabels"]:
        kubevirt, kata = (DEPLOY + name for name in behaviour["kataLabels"])
        wanted = wanted - {kubevirt} | {kata}
    mig_manager = DEPLOY_MIG_MANAGER if workload == "container" else ""
    kept = {key: value for key, value in labels.items() if key not in everything or key in wanted or key == mig_manager}
    if mig_manager and is_mig_capable(labels):
        wanted.add(mig_manager)
    for key in sorted(wanted):
        if key not in kept or (behaviour["fillsEmptyPresets"] and not kept[key]):
            kept[key] = "true"
    return kept


def upgrades_driver(policy: ClusterPolicySpec, behaviour: Mapping[str, Any]) -> bool:
    """Whether GPU nodes are annotated for the operator's driver upgrades by their ClusterPolicy."""
    asked = policy.flag("driver", "upgradePolicy", "autoUpgrade") and not policy.sandboxes
    if behaviour["autoUpgrade"] == "policy":
        return asked
    return asked and (policy.enabled("driver") or policy.delegates_drivers)
