"""A random pool, written as a profile, as Helm values with nodes, and as a ClusterPolicy with nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from poolsmith.change.discover.stack import EVERYWHERE
from poolsmith.change.verify.live_view import ALWAYS, AROUND
from poolsmith.interface.app.template import template
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS, ApiResource
from poolsmith.kubernetes.live.snapshot import ListedObjects, Snapshot, State, to_text

RELEASES = ("v25.10.1", "v26.3.3", "v26.7.0")
GPUS = {
    "NVIDIA-A100-SXM4-80GB": "amd64",
    "NVIDIA-H100-80GB-HBM3": "amd64",
    "Tesla-V100-SXM2-32GB": "amd64",
    "Tesla-T4": "amd64",
    "NVIDIA-L40S": "amd64",
    "NVIDIA-B200": "amd64",
    "GB200": "arm64",
    "NVIDIA-GH200-480GB": "arm64",
}
SYSTEMS = {
    ("ubuntu", "22.04"): "5.15.0-105-generic",
    ("ubuntu", "24.04"): "6.8.0-60-generic",
    ("rhel", "9.4"): "5.14.0-427.13.1.el9_4.x86_64",
    ("rhel", "8.10"): "4.18.0-553.el8_10.x86_64",
}
VERSIONS = ("470.256.02", "535.230.02", "550.163.01", "570.172.08", "580.126.20", "595.91.07")
LAYOUTS = {None: "single", "all-disabled": "single", "all-1g.10gb": "single", "all-balanced": "mixed"}
SYSTEM = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "nvidia.com/gpu.present": "true",
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
    rdma: bool
    gdrcopy: bool
    system: tuple[str, str]
    by_object: bool = False
    """Whether an NVIDIADriver describes the driver."""

    @property
    def kernel(self) -> str:
        return SYSTEMS[self.system].replace("x86_64", "aarch64" if GPUS[self.gpu] == "arm64" else "x86_64")

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
        rdma=st.sampled_from((False, False, False, True)),
        gdrcopy=st.sampled_from((False, False, False, True)),
        system=st.sampled_from(tuple(SYSTEMS)),
        by_object=st.booleans(),
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
        "rdma": pool.rdma,
        "gdrcopy": pool.gdrcopy,
    }
    gpu: dict[str, Any] = {"product": pool.gpu, "count": 8}
    if pool.layout is not None:
        gpu["mig"] = {"layout": pool.layout}
    spec = {
        "os": {"id": pool.system[0], "version": pool.system[1]},
        "kernel": {"release": pool.kernel},
        "arch": GPUS[pool.gpu],
        "nic": "mellanox" if pool.rdma else "none",
        "runtime": {"name": "containerd", "version": pool.runtime},
        "gpu": gpu,
        "driver": driver,
    }
    if sharing:
        spec["sharing"] = sharing
    cluster = {
        "kubernetes": {"version": "1.33", "distribution": "kubeadm"},
        "stack": {"release": pool.release, "driverMode": "nvidia-driver" if pool.by_object else "cluster-policy"},
        "delivery": {
            "engine": "argocd",
            "repoURL": "https://git.example.com/gpu.git",
            "revision": "refs/heads/main",
            "path": "output",
        },
    }
    written_to(root / "profiles/c/cluster.yaml", written_object("poolsmith/v1", "Cluster", "c", cluster))
    written_to(root / "profiles/c/a.yaml", written_object("poolsmith/v1", "NodePool", "a", spec))


def as_values(pool: Pool, root: Path) -> None:
    chart = {"chart": "gpu-operator", "version": pool.release, "sourceRef": {"kind": "HelmRepository", "name": "n"}}
    values = _values(pool)
    if pool.by_object:
        _driver_object(pool, root, values)
        values["driver"] = {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}
    spec = {"interval": "1h", "chart": {"spec": chart}, "values": values}
    written_to(
        root / "g/helm.yaml",
        written_object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "gpu-operator", spec, "gpu-operator"),
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
        **{
            feature: {
                "enabled": wanted,
                "repository": "nvcr.io/nvidia/cloud-native",
                "image": BESIDE[feature][0],
                "version": BESIDE[feature][1],
            }
            for feature, wanted in (("gds", pool.gds), ("gdrcopy", pool.gdrcopy))
        },
    }
    written_to(root / "g/policy.yaml", written_object("nvidia.com/v1", "ClusterPolicy", "cluster-policy", spec))
    if pool.by_object:
        _driver_object(pool, root, values)
        spec["driver"] = {"enabled": True, "useNvidiaDriverCRD": True}
        spec = {key: value for key, value in spec.items() if key not in BESIDE}
        written_to(root / "g/policy.yaml", written_object("nvidia.com/v1", "ClusterPolicy", "cluster-policy", spec))
    config_map = written_object("v1", "ConfigMap", configs["name"], None, "gpu-operator") | {"data": configs["data"]}
    written_to(root / "g/configs.yaml", config_map)
    _nodes(pool, root)


BESIDE = {"gds": ("nvidia-fs", "2.27.3"), "gdrcopy": ("gdrdrv", "v2.5.2")}


def _driver_object(pool: Pool, root: Path, values: dict[str, Any]) -> None:
    """The driver of the values, described by an object; its own parts are taken out of the values."""
    spec = {"driverType": "gpu", "repository": "nvcr.io/nvidia", "image": "driver", **values["driver"]}
    spec.pop("upgradePolicy")
    for feature, (image, version) in BESIDE.items():
        if values.pop(feature, None) is not None:
            spec[feature] = {
                "enabled": True,
                "repository": "nvcr.io/nvidia/cloud-native",
                "image": image,
                "version": version,
            }
    written_to(root / "g/driver.yaml", written_object("nvidia.com/v1alpha1", "NVIDIADriver", "a", spec))


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
    if pool.rdma:
        driver["rdma"] = {"enabled": True}
    for feature, wanted in (("gds", pool.gds), ("gdrcopy", pool.gdrcopy)):
        if wanted:
            values[feature] = {"enabled": True}
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
        "feature.node.kubernetes.io/system-os_release.ID": pool.system[0],
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": pool.system[1],
        "feature.node.kubernetes.io/kernel-version.full": pool.kernel,
        **({"feature.node.kubernetes.io/pci-15b3.present": "true"} if pool.rdma else {}),
        "kubernetes.io/arch": GPUS[pool.gpu],
        "nvidia.com/gpu.product": pool.gpu,
        "nvidia.com/device-plugin.config": "a",
    }
    if pool.layout is not None:
        labels["nvidia.com/mig.config"] = pool.layout
    runtime = {"nodeInfo": {"containerRuntimeVersion": f"containerd://{pool.runtime}"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}, "status": runtime}
    written_to(root / "nodes.yaml", node)


def as_cluster(pool: Pool, root: Path) -> Path:
    """What `discover` reads where the values are installed: their custom resource as the chart renders it."""
    values = _values(pool)
    if pool.by_object:
        _driver_object(pool, root, values)
        values["driver"] = {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}
    written_to(root / "values.yaml", values)
    _nodes(pool, root)
    (node,) = (json.loads((root / "nodes.yaml").read_text()),)
    node["status"]["nodeInfo"] |= {
        "kubeletVersion": "v1.33.0",
        "osImage": f"{pool.system[0]} {pool.system[1]}",
        "kernelVersion": pool.kernel,
        "architecture": GPUS[pool.gpu],
    }
    node["metadata"]["labels"]["nvidia.com/gpu.count"] = "8"
    found = as_bundle(pool.release, root, [node])
    if pool.by_object:
        found.append(json.loads((root / "g/driver.yaml").read_text()))
    by_kind: dict[ApiResource, list[dict[str, Any]]] = {}
    for item in found:
        by_kind.setdefault(ApiResource(item["apiVersion"], item["kind"]), []).append(item)
    lists = [ListedObjects(resource, State.READ, tuple(items)) for resource, items in sorted(by_kind.items())]
    absent = {*ALWAYS, *AROUND, *EVERYWHERE, CONFIG_MAPS} - by_kind.keys()
    lists += [ListedObjects(resource, State.ABSENT) for resource in sorted(absent)]
    bundle = root / "bundle.json"
    bundle.write_text(
        to_text(Snapshot(context="admin@test", server="v1.33.0", taken="2026-11-24T00:00:00Z", lists=tuple(lists)))
    )
    return bundle


def as_bundle(release: str, root: Path, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With what the chart renders of the values in `root`."""
    return [*found, *template(release, [root / "values.yaml"], namespace="gpu-operator").objects]


def written_object(version: str, kind: str, name: str, spec: Any, namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **({} if spec is None else {"spec": spec})}


def written_to(path: Path, body: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body))
