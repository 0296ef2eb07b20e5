"""A random pool whose GPUs go to guests, written as a profile, as Helm values and as a ClusterPolicy, with a node."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from property.surfaces.one_pool import as_bundle, written_object, written_to

if TYPE_CHECKING:
    from pathlib import Path

RELEASES = ("v25.10.1", "v26.3.3", "v26.7.0")
GPUS = ("NVIDIA-A40", "NVIDIA-L40S", "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3")
RUNTIMES = {"containerd": "2.1.3", "cri-o": "1.33.0"}
LAYOUTS = (None, None, "A40-12Q", "A100-4C", "L40S-8Q", "default", "A40-12")
MANAGER = {"repository": "registry.example.com/vgpu", "version": "580.82.07"}
ON_NODES = {"vm-passthrough": "vm-passthrough", "kata": "vm-passthrough", "vm-vgpu": "vm-vgpu"}


@dataclass(frozen=True)
class GuestPool:
    """What is said of one pool, on whichever surface."""

    release: str
    gpu: str
    workload: str
    runtime: str
    arch: str
    mig: str | None
    mps: bool
    cc_mode: str | None
    vgpu: str | None


def is_told_apart(pool: GuestPool) -> bool:
    """Before a release had a mode for Kata, nodes and values don't say which guests get their GPUs; and a node of Kata
    whose CC mode is on is one for confidential guests."""
    return pool.workload == "kata" and (pool.release == "v25.10.1" or pool.cc_mode == "on")


def guest_pools() -> st.SearchStrategy[GuestPool]:
    return st.builds(
        GuestPool,
        release=st.sampled_from(RELEASES),
        gpu=st.sampled_from(GPUS),
        workload=st.sampled_from(tuple(ON_NODES)),
        runtime=st.sampled_from(tuple(RUNTIMES)),
        arch=st.sampled_from(("amd64", "amd64", "arm64")),
        mig=st.sampled_from((None, None, "all-disabled", "all-1g.10gb")),
        mps=st.sampled_from((False, False, True)),
        cc_mode=st.sampled_from((None, None, "off", "on")),
        vgpu=st.sampled_from(LAYOUTS),
    ).filter(lambda pool: not is_told_apart(pool))


def as_profile(pool: GuestPool, root: Path) -> None:
    gpu: dict[str, Any] = {"product": pool.gpu, "count": 8}
    if pool.mig is not None:
        gpu["mig"] = {"layout": pool.mig}
    if pool.vgpu is not None and pool.workload == "vm-vgpu":
        gpu["vgpu"] = {"layout": pool.vgpu}
    spec: dict[str, Any] = {
        "os": {"id": "ubuntu", "version": "22.04"},
        "runtime": {"name": pool.runtime, "version": RUNTIMES[pool.runtime]},
        "arch": pool.arch,
        "gpu": gpu,
        "workload": pool.workload,
    }
    if pool.workload == "vm-vgpu":
        spec["driver"] = {"vgpuManager": MANAGER}
    if pool.mps:
        spec["sharing"] = {"mps": {"replicas": 4}}
    if pool.cc_mode is not None and pool.workload == "kata":
        spec["sandbox"] = {"ccMode": pool.cc_mode}
    cluster = {
        "kubernetes": {"version": "1.33", "distribution": "kubeadm"},
        "stack": {"release": pool.release},
        "delivery": {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git"},
    }
    written_to(root / "profiles/c/cluster.yaml", written_object("poolsmith/v1", "Cluster", "c", cluster))
    written_to(root / "profiles/c/a.yaml", written_object("poolsmith/v1", "NodePool", "a", spec))


def as_values(pool: GuestPool, root: Path) -> None:
    chart = {
        "chart": "gpu-operator",
        "version": pool.release,
        "sourceRef": {"kind": "HelmRepository", "name": "nvidia"},
    }
    spec = {"interval": "1h", "chart": {"spec": chart}, "values": _values(pool)}
    release = written_object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "gpu-operator", spec, "gpu-operator")
    written_to(root / "g/helm.yaml", release)
    written_to(root / "nodes.yaml", _node(pool))


def as_objects(pool: GuestPool, root: Path) -> None:
    """What the chart renders of the values, committed by hand."""
    written_to(root / "values.yaml", _values(pool))
    written_to(root / "nodes.yaml", _node(pool))
    for index, item in enumerate(as_bundle(pool.release, root, [])):
        if item["kind"] in ("ClusterPolicy", "ConfigMap"):
            written_to(root / f"g/{index}.yaml", item)


def _values(pool: GuestPool) -> dict[str, Any]:
    is_kata = pool.workload == "kata"
    values: dict[str, Any] = {
        "sandboxWorkloads": {"enabled": True},
        "ccManager": {"enabled": True},
        "vgpuManager": {"enabled": pool.workload == "vm-vgpu", "image": "vgpu-manager", **MANAGER},
    }
    if is_kata and pool.release != "v25.10.1":
        values["sandboxWorkloads"]["mode"] = "kata"
    if pool.mps:
        sharing = {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}
        data = {"none": json.dumps({"version": "v1"}), "a": json.dumps({"version": "v1", "sharing": sharing})}
        values["devicePlugin"] = {"config": {"create": True, "name": "sharing", "default": "none", "data": data}}
    return values


def _node(pool: GuestPool) -> dict[str, Any]:
    labels = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/gpu.present": "true",
        "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
        "kubernetes.io/arch": pool.arch,
        "nvidia.com/gpu.product": pool.gpu,
        "nvidia.com/gpu.workload.config": ON_NODES[pool.workload],
    }
    if pool.mig is not None:
        labels["nvidia.com/mig.config"] = pool.mig
    if pool.mps:
        labels["nvidia.com/device-plugin.config"] = "a"
    if pool.cc_mode is not None and pool.workload == "kata":
        labels["nvidia.com/cc.mode"] = pool.cc_mode
    if pool.vgpu is not None and pool.workload == "vm-vgpu":
        labels["nvidia.com/vgpu.config"] = pool.vgpu
    runtime = {"nodeInfo": {"containerRuntimeVersion": f"{pool.runtime}://{RUNTIMES[pool.runtime]}"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}, "status": runtime}
