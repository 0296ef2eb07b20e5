"""The first cluster and its pool."""

from __future__ import annotations

from poolsmith.gpu.catalog import Catalog


def cluster_text(name: str, *, engine: str, address: str, branch: str, more: str = "") -> str:
    """Of the newest release of the catalog; `more` are further lines of its delivery."""
    return _CLUSTER.format(
        name=name, release=_newest(Catalog()), engine=engine, address=address, branch=branch, more=more
    )


def pool_text() -> str:
    """A pool whose driver is the one that the newest release brings."""
    catalog = Catalog()
    chart = catalog.chart(catalog.releases.chart_name, _newest(catalog))
    return _POOL.format(driver=chart.default(("driver", "version")) if chart is not None else "")


def _newest(catalog: Catalog) -> str:
    return list(catalog.releases.by_tag)[-1]


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
    repoURL: {address}
    revision: refs/heads/{branch}
{more}"""

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
