"""Nodes for a real API server as the kubelet, feature discovery and the operator leave them, and what verbs say of it."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.stack import EVERYWHERE
from poolsmith.change.verify.live_view import ALWAYS, AROUND, ClusterView, LiveView
from poolsmith.change.verify.live_view import EVERYWHERE as READ_WIDELY
from poolsmith.change.verify.verification import judge_live
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_VERSION
from poolsmith.interface.app.live.verify import Source, snapshot_of, view_of
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS, NODES, ApiResource, Reading
from poolsmith.kubernetes.live.snapshot import ListedObjects, Snapshot, State, from_text
from support.api_client import ApiClient
from support.control_plane import Scenario
from support.recordings import recording

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from poolsmith.fleet.plan.plan import PoolPlan


_BUILDS = {"rke2": "+rke2r1", "k3s": "+k3s1", "eks": "-eks-113cf36", "gke": "-gke.1234000"}
"""What distributions append to the version of the kubelet."""


_IMAGES = {"ubuntu": "Ubuntu {} LTS", "rhel": "Red Hat Enterprise Linux {} (Ootpa)", "talos": "Talos ({})"}


_TEES = {
    "snp": {"amd.feature.node.kubernetes.io/snp": "true"},
    "tdx": {"intel.feature.node.kubernetes.io/tdx": "true"},
}


_SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
WHOLE = ("nvidia.com/gpu",)
OF_ONE_GPU = {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "7g.80gb": 1, "1g.6gb": 4, "1g.5gb": 7}
"""Slices of one size. Source: NVIDIA's MIG user guide, supported profiles of A100, H100 and A30."""


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
            "osImage": _IMAGES[pool.profile.spec.os.id].format(node.labels[OS_VERSION]),
            **dict.fromkeys(("kubeProxyVersion", "machineID", "systemUUID", "bootID"), "any"),
        }
        labels = dict(node.labels) | gfd_labels(
            node.labels, pool, by_hand=cluster.plan.cluster.spec.stack.gpu_feature_discovery
        )
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": node.name, "labels": labels, "annotations": dict(node.annotations)},
                "spec": {"taints": taints},
                "status": {"nodeInfo": info, "capacity": capacity(cluster, pool)},
            }
        )
    return found


def gfd_labels(labels: Mapping[str, str], pool: PoolPlan, *, by_hand: bool) -> dict[str, str]:
    """What GPU feature discovery adds where it runs, and Kata's installers.

    Source: NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery/README.md.
    """
    gpu, driver = pool.profile.spec.gpu, pool.driver
    if pool.profile.spec.workload in KATA_WORKLOADS:
        tee = _TEES.get(pool.profile.spec.sandbox.tee, {})
        return {"katacontainers.io/kata-runtime": "true"} | tee  # of kata-deploy and CoCo's, and of a NodeFeatureRule
    deployed = labels.get("nvidia.com/gpu.deploy.gpu-feature-discovery") == "true"
    if not deployed and not by_hand:
        return {}
    found = {"nvidia.com/gpu.count": str(gpu.count)}
    if by_hand:
        found["nvidia.com/gpu.product"] = gpu.product
        if gpu.mig is not None:
            found["nvidia.com/gpu.product"] += f"-MIG-{gpu.mig.layout.removeprefix('all-')}"
            found["nvidia.com/gpu.count"] = str(7 * gpu.count)
    version = driver.version if driver is not None else None
    if version and version.count(".") > 0:
        found["nvidia.com/cuda.driver-version.full"] = version
    elif version:
        found["nvidia.com/cuda.driver-version.full"] = f"{version}.65.06"
    return found


def capacity(cluster: ClusterView, pool: PoolPlan) -> dict[str, str]:
    """What plugins advertise: whole and shared GPUs and slices of each size, models as the PCI database names them, and
    types of vGPUs.

    Source: NVIDIA/k8s-device-plugin, README.md (names); kubevirt.io user guide.
    """
    spec = pool.profile.spec
    if spec.workload == "container" and cluster.plan.cluster.spec.stack.kind != "gpu-cluster":
        return advertised(pool)
    entry = cluster.gpus.find(spec.gpu.product)
    if spec.workload in KATA_WORKLOADS and pool.smoke is not None:
        return {pool.smoke.resource: str(spec.gpu.count)}
    if spec.workload == "vm-passthrough" and entry is not None:
        return {entry.devices[0].resource: str(spec.gpu.count)}
    if spec.workload == "vm-vgpu" and spec.gpu.vgpu is not None:
        types = {name: count for row in spec.gpu.vgpu.devices for name, count in row.vgpu_devices.items()}
        return {f"nvidia.com/NVIDIA_{name}": str(count) for name, count in types.items()}
    return {}


def advertised(pool: PoolPlan) -> dict[str, str]:
    """By the device plugin, on a node whose GPUs are all well."""
    spec = pool.profile.spec
    names = {"nvidia.com/gpu": spec.gpu.count or 1}
    mig = spec.gpu.mig
    if mig is not None and mig.layout.removeprefix("all-") in OF_ONE_GPU:
        size = mig.layout.removeprefix("all-")
        name = f"nvidia.com/mig-{size}" if pool.mig_strategy == "mixed" or pool.resources != WHOLE else WHOLE[0]
        names = {name: OF_ONE_GPU[size] * spec.gpu.count}
    elif pool.mig_strategy == "mixed" and mig is not None:
        sizes: Counter[str] = Counter()
        for row in mig.devices:
            gpus = spec.gpu.count if row.devices == "all" else len(row.devices)
            if not row.mig_enabled:
                sizes["nvidia.com/gpu"] += gpus
            for size, count in row.mig_devices.items() if row.mig_enabled else ():
                sizes[f"nvidia.com/mig-{size.replace('+', '.')}"] += gpus * count
        names = dict(sizes)
    slicing, mps = spec.sharing.time_slicing, spec.sharing.mps
    shared = slicing.shared if slicing is not None else {"nvidia.com/gpu": mps.replicas} if mps is not None else {}
    renames = (slicing or mps) is not None and (slicing or mps).rename_by_default
    return {
        name + (".shared" if renames and name in shared else ""): str(count * shared.get(name, 1))
        for name, count in names.items()
    }


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
    found = snapshot_of(
        Source(reading=reading), cluster.resources, cluster.namespaces, cluster.of_namespaces, READ_WIDELY
    )
    return replace(found, server=f"v{cluster.plan.cluster.spec.kubernetes.version}")


def told(cluster: ClusterView, snapshot: Snapshot) -> list[str]:
    """Every finding, and what was not evaluated."""
    outcome = judge_live(LiveView(cluster, snapshot))
    findings = [f"{item.code} {item.message}" for item in outcome.diagnostics]
    return findings + [f"not evaluated: {item.what}: {item.reason}" for item in outcome.skipped]


def recorded_snapshot(cluster: ClusterView) -> Snapshot:
    """What the operator's own program has left of a sample cluster, with the versions that its profile says: the server
    that it was recorded on is of another one."""
    version = cluster.plan.cluster.spec.kubernetes.version
    found = from_text(json.dumps(recording("live_clusters")[cluster.name]), "recorded")
    nodes = [copy.deepcopy(item) for item in found.items(NODES)]
    pools = {pool.label_value: pool for pool in cluster.plan.pools}
    for node in nodes:
        node["status"]["nodeInfo"]["kubeletVersion"] = f"v{version}"
        pool = pools[node["metadata"]["labels"][cluster.plan.cluster.spec.pool_label]]
        for field in ("capacity", "allocatable"):
            node["status"][field] = {**node["status"].get(field, {}), **capacity(cluster, pool)}
    lists = tuple(replace(item, items=tuple(nodes)) if item.resource == NODES else item for item in found.lists)
    asked = {item.resource for item in lists}
    lists += tuple(ListedObjects(resource, State.READ) for resource in AROUND if resource not in asked)
    delivered = (_delivered_since(item, cluster) for item in lists)
    whole = (replace(item, namespaces=()) if item.resource in READ_WIDELY else item for item in delivered)
    return replace(found, server=f"v{version}", lists=tuple(whole))


def _delivered_since(listed: ListedObjects, cluster: ClusterView) -> ListedObjects:
    """Delivery objects with what they are delivered with since these clusters were recorded: the guards of HelmReleases
    and Applications against pruning, and destinations of Applications. Only an applier writes them, and the API server
    keeps them."""
    items = [copy.deepcopy(item) for item in listed.items]
    if listed.resource.kind == "HelmRelease":
        for item in items:
            item["metadata"].setdefault("annotations", {})["kustomize.toolkit.fluxcd.io/prune"] = "disabled"
    elif listed.resource.kind == "Application":
        given = cluster.plan.cluster.spec.delivery.destination
        guarded = {
            item.pattern: _sync_options(item.body) for item in cluster.expected if item.resource == listed.resource
        }
        for item in items:
            if options := guarded.get(item["metadata"]["name"]):
                item["metadata"].setdefault("annotations", {})[_SYNC_OPTIONS] = options
        for item in items if given is not None and given.name is not None else ():
            item["spec"]["destination"] = {"name": given.name, "namespace": item["spec"]["destination"]["namespace"]}
    return replace(listed, items=tuple(items))


def _sync_options(body: Mapping[str, Any]) -> str:
    return str(body["metadata"].get("annotations", {}).get(_SYNC_OPTIONS, ""))


def with_gpus(cluster: ClusterView, snapshot: Snapshot) -> Snapshot:
    """Where nodes say what the kubelet and feature discovery would tell of GPUs, which no test has; lists that nobody
    asked for are empty."""
    described = {node["metadata"]["name"]: node for node in nodes_of(cluster)}
    nodes = []
    for item in snapshot.items(NODES):
        told = described[item["metadata"]["name"]]
        labels = told["metadata"]["labels"] | item["metadata"]["labels"]
        nodes.append({**item, "metadata": {**item["metadata"], "labels": labels}, "status": told["status"]})
    lists = [replace(item, items=tuple(nodes)) if item.resource == NODES else item for item in snapshot.lists]
    asked = {item.resource for item in lists}
    lists += [ListedObjects(resource, State.ABSENT) for resource in sorted({*EVERYWHERE, CONFIG_MAPS} - asked)]
    return replace(snapshot, lists=tuple(lists))


def bundle_of(cluster: ClusterView) -> Snapshot:
    """What a reader finds where all that is expected stands, with the nodes; nothing else is known to be there."""
    by_kind: dict[ApiResource, list[dict[str, Any]]] = {NODES: nodes_of(cluster)}
    for item in cluster.expected:
        metadata = {"name": item.pattern.replace("*", "x7f2b"), **item.body["metadata"]}
        by_kind.setdefault(item.resource, []).append({**item.body, "metadata": metadata})
    lists = [ListedObjects(resource, State.READ, tuple(items)) for resource, items in sorted(by_kind.items())]
    absent = {*ALWAYS, *AROUND, *EVERYWHERE, CONFIG_MAPS} - by_kind.keys()
    lists += [ListedObjects(resource, State.ABSENT) for resource in sorted(absent)]
    version = cluster.plan.cluster.spec.kubernetes.version
    return Snapshot(context="admin@test", server=f"v{version}", taken="2026-11-24T00:00:00Z", lists=tuple(lists))
