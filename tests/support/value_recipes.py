"""What people set together in the values of the operator's chart: each recipe draws one such setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.plausible_values import DISCOVERY, Made, boolean, labels, node_selector, some, tolerations

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


def _private_registry(draw: random.Random) -> Made:
    here = {"repository": "registry.example.com/mirror", "imagePullSecrets": ["mirror"]}
    parts = draw.sample(("driver", "toolkit", "devicePlugin", "dcgmExporter", "migManager", "validator", "gfd"), 4)
    nfd = {"image": {"repository": "registry.example.com/nfd"}, "imagePullSecrets": [{"name": "mirror"}]}
    return {**{part: dict(here) for part in parts}, "operator": dict(here), DISCOVERY: nfd}


def _sandbox(draw: random.Random) -> Made:
    return {
        "sandboxWorkloads": {"enabled": True, "defaultWorkload": draw.choice(("container", "vm-vgpu"))},
        "vgpuManager": {
            "enabled": True,
            "repository": "registry.example.com/vgpu",
            "image": "vgpu-manager",
            "version": "580",
        },
    }


def _custom_configs(draw: random.Random) -> Made:
    plugin = {"create": True, "name": "plugin-config", "default": "any", "data": {"any": "version: v1\nsharing: {}\n"}}
    mig = {"create": True, "name": "mig-parts", "data": {"config.yaml": "version: v1\n\nmig-configs:\n  a: []\n"}}
    metrics = {"create": True, "name": "metrics", "data": "# Format\nDCGM_FI_DEV_SM_CLOCK, gauge, SM clock (in MHz).\n"}
    return {
        "devicePlugin": {"config": plugin},
        "migManager": {"config": mig},
        "dcgmExporter": {"config": metrics},
        "mig": {"strategy": draw.choice(("single", "mixed"))},
    }


def _discovery_config(draw: random.Random) -> Made:
    sources = {"pci": {"deviceClassWhitelist": ["0300", "0302"], "deviceLabelFields": ["vendor", "device"]}}
    texts = {"labelSources": ["all"], "noPublish": False, "sleepInterval": "60s", "labelWhiteList": "^x=y: z$"}
    custom = [{"name": "rule", "labels": {"a": "true"}, "matchFeatures": [{"feature": "kernel.version"}]}]
    worker = some(draw, {"core": texts, "sources": sources}, {"sources": {"custom": custom}}, {}, None)
    return {
        DISCOVERY: {
            "worker": {"config": worker},
            "master": {"config": some(draw, {"extraLabelNs": ["a.io"], "autoDefaultNs": True}, None, {})},
            "topologyUpdater": {"enable": boolean(draw), "config": some(draw, {"excludeList": {"*": ["cpu"]}}, None)},
        }
    }


def _discovery_budgets(draw: random.Random) -> Made:
    budget = {"enable": True, "minAvailable": 1}
    whole = {
        "enable": True,
        "minAvailable": None,
        "maxUnavailable": "30%",
        "unhealthyPodEvictionPolicy": "IfHealthyBudget",
    }
    return {
        DISCOVERY: {
            "master": {"podDisruptionBudget": some(draw, budget, whole), "networkPolicy": {"enabled": boolean(draw)}},
            "gc": {"podDisruptionBudget": some(draw, budget, whole), "networkPolicy": {"enabled": boolean(draw)}},
            "prometheus": {"enable": True, "labels": labels(draw)},
            "global": {"imagePullSecrets": [{"name": "shared"}]},
            "checksumValuesOnly": boolean(draw),
        }
    }


def _hooks(draw: random.Random) -> Made:
    operator = {"cleanupCRD": True, "upgradeCRD": boolean(draw), "tolerations": tolerations(draw)}
    return {
        "operator": {**operator, "labels": labels(draw), "annotations": labels(draw)},
        "nfd": {"enabled": boolean(draw)},
    }


def _gpu_cluster(draw: random.Random) -> Made:
    driver = {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": boolean(draw)}}
    return {"gpuCluster": {"deployCR": True}, "clusterPolicy": {"deployCR": False}, "driver": driver}


def _driver_object(draw: random.Random) -> Made:
    driver = {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": True, "nodeSelector": node_selector(draw)}}
    return {"driver": {**driver, "rdma": {"enabled": boolean(draw)}, "upgradePolicy": {"autoUpgrade": boolean(draw)}}}


def _openshift(draw: random.Random) -> Made:
    return {
        "platform": {"openshift": True},
        "operator": {"use_ocp_driver_toolkit": boolean(draw)},
        "nfd": {"enabled": False},
    }


def _rules_and_pod_security(draw: random.Random) -> Made:
    return {
        "nfd": {"nodefeaturerules": True},
        "psa": {"enabled": boolean(draw)},
        "ccManager": {"enabled": boolean(draw)},
    }


RECIPES: tuple[Callable[[random.Random], Made], ...] = (
    _private_registry,
    _sandbox,
    _custom_configs,
    _discovery_config,
    _discovery_budgets,
    _hooks,
    _gpu_cluster,
    _driver_object,
    _openshift,
    _rules_and_pod_security,
)
"""What people set together."""
