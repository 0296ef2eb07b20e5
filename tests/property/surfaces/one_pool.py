"""A random pool, written as a profile, as Helm values with nodes, and as a ClusterPolicy with nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

RELEASES = ("v25.10.1", "v26.3.3", "v26.7.0")
GPUS = {
    "NVIDIA-A100-SXM4-80GB": "amd64",
    "NVIDIA-H100-80GB-HBM3": "amd64",
    "Tesla-V100-SXM2-32GB": "amd64",
    "Tesla-T4": "amd64",
    "NVIDIA-L40S": "amd64",
}
VERSIONS = ("535.230.02", "550.163.01", "570.172.08", "580.126.20", "595.91.07")
LAYOUTS = {None: "single", "all-disabled": "single", "all-1g.10gb": "single", "all-balanced": "mixed"}
SYSTEM = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "nvidia.com/gpu.present": "true",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
}


@dataclass(frozen=True)
class Pool:
    """What is said of one pool, on whichever surface."""

    release: str
    gpu: str
    version: str
    modules: str
    precompiled: bool
    gds: bool
    runtime: str
    mps: int | None
    slices: int | None
    layout: str | None

    @property
    def driver_version(self) -> str:
        return self.version.partition(".")[0] if self.precompiled else self.version


WITHOUT_MIG = ("Tesla-V100-SXM2-32GB", "Tesla-T4", "NVIDIA-L40S")


def is_told_apart(pool: Pool) -> bool:
    """Whether the surfaces don't mean the same: a field of a profile that nothing reads is an error of its own, and the
    label `all-disabled` on GPUs without MIG is none. Whether `auto` is open enough for GPUDirect Storage depends on who
    describes the driver."""
    return pool.layout == "all-disabled" and pool.gpu in WITHOUT_MIG


def pools() -> st.SearchStrategy[Pool]:
    return st.builds(
        Pool,
        release=st.sampled_from(RELEASES),
        gpu=st.sampled_from(sorted(GPUS)),
        version=st.sampled_from(VERSIONS),
        modules=st.sampled_from(("auto", "open", "proprietary")),
        precompiled=st.sampled_from((False, False, False, True)),
        gds=st.sampled_from((False, False, True)),
        runtime=st.sampled_from(("1.7.27", "2.1.3", "1.6.2")),
        mps=st.sampled_from((None, None, 4, 16, 17, 48, 49)),
        slices=st.sampled_from((None, None, 4)),
        layout=st.sampled_from(tuple(LAYOUTS)),
    ).filter(lambda pool: not is_told_apart(pool))


def as_profile(pool: Pool, root: Path) -> None:
    sharing: dict[str, Any] = {}
    if pool.mps is not None:
        sharing["mps"] = {"replicas": pool.mps}
    if pool.slices is not None:
        sharing["timeSlicing"] = {"replicas": pool.slices}
    driver = {
        "source": "precompiled" if pool.precompiled else "container",
        "version": pool.driver_version,
        "kernelModuleType": pool.modules,
        "upgradePolicy": {},
        "gds": pool.gds,
    }
    gpu: dict[str, Any] = {"product": pool.gpu, "count": 8}
    if pool.layout is not None:
        gpu["mig"] = {"layout": pool.layout}
    spec = {
        "os": {"id": "ubuntu", "version": "22.04"},
        "kernel": {"release": "5.15.0-105-generic"},
        "runtime": {"name": "containerd", "version": pool.runtime},
        "gpu": gpu,
        "driver": driver,
    }
    if sharing:
        spec["sharing"] = sharing
    cluster = {
        "kubernetes": {"version": "1.33", "distribution": "kubeadm"},
        "stack": {"release": pool.release},
        "delivery": {
            "engine": "argocd",
            "repoURL": "https://git.example.com/gpu.git",
            "revision": "refs/heads/main",
            "path": "output",
        },
    }
    _write(root / "profiles/c/cluster.yaml", _object("poolsmith/v1", "Cluster", "c", cluster))
    _write(root / "profiles/c/a.yaml", _object("poolsmith/v1", "NodePool", "a", spec))


def as_values(pool: Pool, root: Path) -> None:
    chart = {"chart": "gpu-operator", "version": pool.release, "sourceRef": {"kind": "HelmRepository", "name": "n"}}
    spec = {"interval": "1h", "chart": {"spec": chart}, "values": _values(pool)}
    _write(
        root / "g/helm.yaml", _object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "gpu-operator", spec, "gpu-operator")
    )
    _nodes(pool, root)


def as_objects(pool: Pool, root: Path) -> None:
    values = _values(pool)
    configs = values.pop("devicePlugin")["config"]
    spec = {
        "operator": {"defaultRuntime": "containerd"},
        "daemonsets": {},
        **{name: {"enabled": True} for name in ("toolkit", "dcgm", "dcgmExporter", "gfd", "migManager")},
        "nodeStatusExporter": {"enabled": False},
        **values,
        "driver": {"enabled": True, "repository": "nvcr.io/nvidia", "image": "driver", **values["driver"]},
        "devicePlugin": {"enabled": True, "config": {"name": configs["name"], "default": configs["default"]}},
        "gds": {
            "enabled": pool.gds,
            "repository": "nvcr.io/nvidia/cloud-native",
            "image": "nvidia-fs",
            "version": "2.27.3",
        },
    }
    _write(root / "g/policy.yaml", _object("nvidia.com/v1", "ClusterPolicy", "cluster-policy", spec))
    config_map = _object("v1", "ConfigMap", configs["name"], None, "gpu-operator") | {"data": configs["data"]}
    _write(root / "g/configs.yaml", config_map)
    _nodes(pool, root)


def _values(pool: Pool) -> dict[str, Any]:
    driver: dict[str, Any] = {
        "version": pool.driver_version,
        "kernelModuleType": pool.modules,
        "upgradePolicy": {"autoUpgrade": False},
    }
    if pool.precompiled:
        driver["usePrecompiled"] = True
    values: dict[str, Any] = {
        "driver": driver,
        "mig": {"strategy": "single" if pool.gpu in WITHOUT_MIG else LAYOUTS[pool.layout]},
    }
    if pool.gds:
        values["gds"] = {"enabled": True}
    sharing: dict[str, Any] = {}
    if pool.mps is not None:
        sharing["mps"] = {"resources": [{"name": "nvidia.com/gpu", "replicas": pool.mps}]}
    if pool.slices is not None:
        sharing["timeSlicing"] = {"resources": [{"name": "nvidia.com/gpu", "replicas": pool.slices}]}
    text = {"version": "v1", "sharing": sharing} if sharing else {"version": "v1"}
    data = {"none": json.dumps({"version": "v1"}), "a": json.dumps(text)}
    return {**values, "devicePlugin": {"config": {"create": True, "name": "sharing", "default": "none", "data": data}}}


def _nodes(pool: Pool, root: Path) -> None:
    labels = {
        **SYSTEM,
        "kubernetes.io/arch": GPUS[pool.gpu],
        "nvidia.com/gpu.product": pool.gpu,
        "nvidia.com/device-plugin.config": "a",
    }
    if pool.layout is not None:
        labels["nvidia.com/mig.config"] = pool.layout
    runtime = {"nodeInfo": {"containerRuntimeVersion": f"containerd://{pool.runtime}"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}, "status": runtime}
    _write(root / "nodes.yaml", node)


def _object(version: str, kind: str, name: str, spec: Any, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **({} if spec is None else {"spec": spec})}


def _write(path: Path, body: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body))
