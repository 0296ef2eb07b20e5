"""Nodes for a real API server as the kubelet, feature discovery and the operator leave them, and what verbs say of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from poolsmith.app.live.source import Source, snapshot_of
from poolsmith.app.live.verify import view_of
from poolsmith.catalog.node_labels import KERNEL
from poolsmith.live.reading import Reading
from poolsmith.live.snapshot import Snapshot
from poolsmith.verify.judge import judge_live
from poolsmith.verify.view import ClusterView, LiveView
from support.api_client import ApiClient
from support.control_plane import Scenario


def view(root: Path, cluster: str) -> ClusterView:
    found, problems = view_of(root, cluster)
    assert found is not None, problems
    return found


def nodes_of(cluster: ClusterView) -> list[dict[str, Any]]:
    """One for each pool and system, with what the predicted operands look at."""
    found = []
    pools = {pool.name: pool for pool in cluster.plan.pools}
    for node in cluster.prediction.installation.nodes:
        pool = pools[node.pool]
        taints = [dict(item) for item in node.taints] or [taint.body for taint in pool.taints]
        info = {
            "containerRuntimeVersion": node.runtime,
            "kernelVersion": node.labels.get(KERNEL, "6.8.0-1-any"),
            "architecture": pool.architecture or "amd64",
            **dict.fromkeys(("osImage", "kubeletVersion", "kubeProxyVersion", "operatingSystem"), "any"),
            **dict.fromkeys(("machineID", "systemUUID", "bootID"), "any"),
        }
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node.name, "labels": dict(node.labels), "annotations": dict(node.annotations)},
                "spec": {"taints": taints},
                "status": {"nodeInfo": info},
            }
        )
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
