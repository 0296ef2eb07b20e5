"""Synthetic fleets of any size: clusters of ten unlike pools, the same every time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

POOLS_PER_CLUSTER = 10
_KERNEL = re.compile(r"5\.15\.0-(\d+)-generic")
_RUNTIME = re.compile(r"1\.7\.(\d+)")
_BASE = """\
apiVersion: poolsmith/v1
kind: NodePoolBase
metadata:
  name: ubuntu
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd, version: "1.7.27"}
"""
_CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: NAME
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3, driverMode: nvidia-driver}
  poolLabel: example.com/gpu-pool
  delivery: {ENGINE, repoURL: "https://git.example.com/gpu.git"}
"""
_POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: NAME
spec:
  extends: [ubuntu]
  nodes:
    count: 16
    taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
  kernel: {release: 5.15.0-105-generic}
"""
_KINDS = (
    "  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}\n  driver: {source: precompiled, version: '580'}\n",
    "  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}\n  driver: {source: container}\n",
    "  gpu: {product: NVIDIA-L40S, count: 4}\n  sharing: {timeSlicing: {replicas: 4}}\n  driver: {source: container}\n",
    "  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8}\n  driver: {source: container, kernelModuleType: open}\n",
    "  gpu: {product: NVIDIA-L4, count: 1}\n  driver: {source: preinstalled}\n",
)


def write_fleet(root: Path, pools: int, *, unlike: bool = False) -> int:
    """Write a project of `pools` pools below `root`; the number of its clusters.

    Clusters are alike but for their names and engines, or `unlike`: each with a kernel of its own.
    """
    bases = root / "profiles" / "_bases"
    bases.mkdir(parents=True)
    (bases / "ubuntu.yaml").write_text(_BASE)
    clusters = max(1, pools // POOLS_PER_CLUSTER)
    for number in range(clusters):
        name = f"cluster-{number:05d}"
        folder = root / "profiles" / name
        folder.mkdir()
        engine = "engine: flux" if number % 2 else f"engine: argocd, destination: {{name: {name}}}"
        (folder / "cluster.yaml").write_text(_CLUSTER.replace("NAME", name).replace("ENGINE", engine))
        for index in range(min(pools, POOLS_PER_CLUSTER)):
            pool = f"pool-{index:02d}"
            text = _POOL.replace("NAME", pool) + _KINDS[index % len(_KINDS)]
            kernel = f"5.15.0-{number + 1000}-generic" if unlike else "5.15.0-105-generic"
            (folder / f"{pool}.yaml").write_text(text.replace("5.15.0-105-generic", kernel))
    return clusters


def change_base(root: Path) -> None:
    """The base of all pools, to a version of the runtime that it has not had before."""
    path = root / "profiles" / "_bases" / "ubuntu.yaml"
    path.write_text(_RUNTIME.sub(lambda found: f"1.7.{int(found[1]) + 1}", path.read_text()))


def change_one_profile(root: Path) -> None:
    """To a kernel that it has not had before."""
    path = root / "profiles" / "cluster-00000" / "pool-00.yaml"
    path.write_text(_KERNEL.sub(lambda found: f"5.15.0-{int(found[1]) + 1}-generic", path.read_text()))


_SERVICE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-NUMBER, namespace: team-NUMBER}
spec:
  selector: {matchLabels: {app: web-NUMBER}}
  template:
    metadata: {labels: {app: web-NUMBER}}
    spec:
      containers: [{name: web, image: "registry.example.com/web:NUMBER", ports: [{containerPort: 8080}]}]
"""
_LINES = 30_000


def write_files_without_gpus(root: Path, number: int) -> None:
    """A repository of somebody else: small objects in folders, and one file in ten as long as a definition's."""
    filler = "".join(f"# line {line} of a long description of a field\n" for line in range(_LINES // 50))
    for index in range(number):
        folder = root / f"team-{index // 20}"
        folder.mkdir(exist_ok=True)
        text = _SERVICE.replace("NUMBER", str(index))
        (folder / f"web-{index}.yaml").write_text(text + filler * 8 if index % 10 == 0 else text)
