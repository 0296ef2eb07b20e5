"""Nodes for a real API server as the kubelet, feature discovery and the operator leave them, and what verbs say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.app.live.source import Source, snapshot_of
from poolsmith.app.live.verify import view_of
from poolsmith.catalog.node_labels import KERNEL
from poolsmith.live.reading import Reading
from poolsmith.live.snapshot import Snapshot
from poolsmith.verify.judge import judge_live
from poolsmith.verify.view import ClusterView, LiveView
from support.api_client import ApiClient
from support.control_plane import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from poolsmith.plan.plan import PoolPlan


_BUILDS = {"rke2": "+rke2r1", "k3s": "+k3s1", "eks": "-eks-113cf36", "gke": "-gke.1234000"}
"""What distributions append to the version of the kubelet."""


def view(root: Path, cluster: str) -> ClusterView:
    found, problems = view_of(root, cluster)
    assert found is not None, problems
    return found


def nodes_of(cluster: ClusterView) -> list[dict[str, Any]]:
    """One for each pool and system, with what the predicted operands look at."""
    found = []
    distribution = cluster.plan.cluster.spec.kubernetes.distribution
    pools = {pool.name: pool for pool in cluster.plan.pools}
    for node in cluster.prediction.installation.nodes:
        pool = pools[node.pool]
        taints = [dict(item) for item in node.taints] or [taint.body for taint in pool.taints]
        info = {
            "containerRuntimeVersion": node.runtime,
            "kernelVersion": node.labels.get(KERNEL, "6.8.0-1-any"),
            "architecture": node.labels["kubernetes.io/arch"],
            "operatingSystem": "linux",
            "kubeletVersion": f"v{cluster.plan.cluster.spec.kubernetes.version}.0{_BUILDS.get(distribution, '')}",
            **dict.fromkeys(("osImage", "kubeProxyVersion", "machineID", "systemUUID", "bootID"), "any"),
        }
        labels = dict(node.labels) | gfd_labels(node.labels, pool)
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node.name, "labels": labels, "annotations": dict(node.annotations)},
                "spec": {"taints": taints},
                "status": {"nodeInfo": info},
            }
        )
    return found


def gfd_labels(labels: Mapping[str, str], pool: PoolPlan) -> dict[str, str]:
    """What GPU feature discovery adds where it runs.

    Source: NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery/README.md.
    """
    if labels.get("nvidia.com/gpu.deploy.gpu-feature-discovery") != "true":
        return {}
    gpu, driver = pool.profile.spec.gpu, pool.driver
    found = {"nvidia.com/gpu.count": str(gpu.count)}
    version = driver.version if driver is not None else None
    if version and version.count(".") > 0:
        found["nvidia.com/cuda.driver-version.full"] = version
    elif version:
        found["nvidia.com/cuda.driver-version.full"] = f"{version}.65.06"
    return found


def create_nodes(client: ApiClient, nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        created = client.create(node)
        assert created.taken, created.message
        path = f"/api/v1/nodes/{node['metadata']['name']}/status"
        patched = client.request("PATCH", path, {"status": node["status"]}, content_type="application/merge-patch+json")
        assert patched.taken, patched.message


def read(scenario: Scenario, cluster: ClusterView, user: str = "admin", seconds: float = 30.0) -> Snapshot:
    """By kr8s, as the verbs do; the version is that of the profile, which no test server has."""
    reading = Reading(kubeconfig=str(scenario.kubeconfig(user)), seconds=seconds)
    found = snapshot_of(Source(reading=reading), cluster.resources, cluster.namespaces)
    return replace(found, server=f"v{cluster.plan.cluster.spec.kubernetes.version}")


def told(cluster: ClusterView, snapshot: Snapshot) -> list[str]:
    """Every finding, and what was not evaluated."""
    outcome = judge_live(LiveView(cluster, snapshot))
    findings = [f"{item.code} {item.message}" for item in outcome.diagnostics]
    return findings + [f"not evaluated: {item.what}: {item.reason}" for item in outcome.skipped]
