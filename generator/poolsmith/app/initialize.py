"""Use case: the first profiles of a new project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.app.folder import link_in_the_way
from poolsmith.app.schemas import schema_files
from poolsmith.catalog import Catalog
from poolsmith.diagnostics import UsageError, WriteError
from poolsmith.profiles.fleet import PROFILES, SCHEMAS
from poolsmith.record import record
from poolsmith.shape.field import DNS_LABEL, matches

if TYPE_CHECKING:
    from pathlib import Path


@record(kw_only=False)
class Initialized:
    """Paths that were written, and those that were there and were left alone."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def initialize(root: Path, cluster: str, *, engine: str = "argocd") -> Initialized:
    """Write a cluster with one pool, and the schemas for editors. Profiles that exist are never overwritten.

    Raises UsageError, WriteError.
    """
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    if not matches(DNS_LABEL, cluster):
        raise UsageError(f"`{cluster}` is no cluster name: use lower-case letters, digits and `-`, at most 63")
    catalog = Catalog()
    release = list(catalog.releases.by_tag)[-1]
    chart = catalog.chart(catalog.releases.chart_name, release)
    driver = chart.default(("driver", "version")) if chart is not None else ""
    files = {
        f"{PROFILES}/{cluster}/cluster.yaml": _CLUSTER.format(name=cluster, release=release, engine=engine),
        f"{PROFILES}/{cluster}/gpu.yaml": _POOL.format(driver=driver),
    }
    generated = {f"{PROFILES}/{SCHEMAS}/{name}": text for name, text in schema_files().items()}
    written, kept = [], []
    for folder in (f"{PROFILES}/{cluster}", f"{PROFILES}/{SCHEMAS}"):
        if (problem := link_in_the_way(root, folder)) is not None:
            raise WriteError(problem.message)
    try:
        for path, text in {**files, **generated}.items():
            target = root / path
            if target.is_symlink() or (target.exists() and (path in files or target.read_bytes() == text.encode())):
                kept.append(path)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            written.append(path)
    except OSError as error:
        raise WriteError(f"can't write below {root}: {error.strerror or error}") from error
    return Initialized(tuple(written), tuple(kept))


_CLUSTER = """\
# yaml-language-server: $schema=../_schemas/cluster.schema.json
apiVersion: poolsmith/v1
kind: Cluster
metadata:
  name: {name}
spec:
  kubernetes:
    version: "1.34"
    distribution: kubeadm        # kubeadm rke2 k3s microk8s k0s eks gke aks talos
  stack:
    kind: operator
    # renovate: datasource=helm depName=gpu-operator registryUrl=https://helm.ngc.nvidia.com/nvidia
    release: {release}
  poolLabel: example.com/gpu-pool
  delivery:
    engine: {engine}
    repoURL: https://git.example.com/gpu.git
    revision: refs/heads/main
"""

_POOL = """\
# yaml-language-server: $schema=../_schemas/node-pool.schema.json
apiVersion: poolsmith/v1
kind: NodePool
metadata:
  name: gpu
spec:
  os:
    id: ubuntu
    version: "24.04"
  runtime:
    name: containerd
  gpu:
    product: NVIDIA-L40S
    count: 8
  driver:
    source: container            # container | precompiled | preinstalled
    version: {driver}
    upgradePolicy: {{}}            # the defaults: replaced at once, one node at a time
"""
