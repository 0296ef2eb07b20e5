"""Use case: what the clusters of a project have, for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.fleet.plan.sharing.mig import WHOLE_GPU
from poolsmith.guard.ledger.placement import placement_of
from poolsmith.guard.ledger.prediction import offered_resources
from poolsmith.interface.report.inventory import (
    Inventory,
    InventoryLabel,
    InventoryPool,
    InventoryResource,
    InventorySystem,
    InventoryTaint,
    UnknownCluster,
)
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.guard.ledger.prediction import Prediction

_ERRORS = "its profiles have errors: `poolsmith check` shows them"
_SHARED = ".shared"
_ALL = "all"


def inventory(root: Path, clusters: Sequence[str]) -> Inventory:
    """The pools in the order of clusters and names. Raises UsageError, NoInputError."""
    project = open_project(root)
    pools: list[InventoryPool] = []
    unknown: list[UnknownCluster] = []
    with rarely_collecting():
        for files in project.select(clusters):
            run = plan_cluster(project, files)
            if run.plan is None or run.prediction is None:
                unknown.append(UnknownCluster(cluster=files.name, why=_ERRORS))
                continue
            pools += pools_of(SeenCluster(run.loaded, run.plan, run.prediction))
    return Inventory(pools=tuple(pools), unknown=tuple(unknown))


def pools_of(seen: SeenCluster) -> list[InventoryPool]:
    """In the order of the plan."""
    offered = offered_resources(seen.prediction)
    paths = {item.pool.name: item.pool.path for item in seen.loaded.pools}
    return [_pool(seen, pool, offered[pool.name], paths[pool.name]) for pool in seen.plan.pools]


def _pool(seen: SeenCluster, pool: PoolPlan, offered: frozenset[str], path: str) -> InventoryPool:
    cluster, spec = seen.plan.cluster.spec, pool.profile.spec
    mig = spec.gpu.mig
    return InventoryPool(
        cluster=seen.plan.name,
        pool=pool.name,
        owner=spec.owner or cluster.owner,
        ring=cluster.ring,
        release=cluster.stack.release,
        selector=(InventoryLabel(key=cluster.pool_label, value=pool.label_value),),
        taints=tuple(
            InventoryTaint(key=taint.key, value=taint.value, effect=taint.effect.value) for taint in pool.taints
        ),
        nodes=spec.nodes.count or len(pool.node_names) or None,
        product=spec.gpu.product,
        gpus=spec.gpu.count,
        mig_layout=mig.layout if mig is not None else None,
        resources=tuple(InventoryResource(name=name, count=_count(pool, name)) for name in sorted(offered)),
        runtime_classes=tuple(sorted(_runtime_classes(seen.prediction, pool.name))),
        driver=pool.driver.source if pool.driver is not None else "none",
        driver_version=pool.driver.version if pool.driver is not None else None,
        os=spec.os.id,
        systems=tuple(InventorySystem(version=item.version, kernel=item.kernel) for item in spec.systems),
        arch=spec.arch.value,
        workload=spec.workload.value,
        profile=path,
    )


def _count(pool: PoolPlan, name: str) -> int | None:
    """Of each node. Which slices a layout of the operator gives on a GPU is not known here."""
    spec = pool.profile.spec
    plain = name.removesuffix(_SHARED)
    whole = _devices(pool, plain)
    if whole is None:
        return None
    slicing, mps = spec.sharing.time_slicing, spec.sharing.mps
    if slicing is not None and plain in slicing.shared:
        return whole * slicing.shared[plain]
    return whole * mps.replicas if mps is not None and plain == WHOLE_GPU else whole


def _devices(pool: PoolPlan, name: str) -> int | None:
    """GPUs or MIG devices, before anybody shares them."""
    gpu = pool.profile.spec.gpu
    if gpu.mig is None or gpu.mig.layout == "all-disabled":
        return gpu.count
    if not gpu.mig.devices:
        return None
    found = 0
    for group in gpu.mig.devices:
        gpus = gpu.count if group.devices == _ALL else len(group.devices)
        if not group.mig_enabled:
            found += gpus if name == WHOLE_GPU else 0
        elif name == WHOLE_GPU:
            found += gpus * sum(group.mig_devices.values()) if pool.mig_strategy == "single" else 0
        else:
            found += gpus * group.mig_devices.get(name.rpartition("/mig-")[2].replace(".me", "+me"), 0)
    return found or None


def _runtime_classes(prediction: Prediction, pool: str) -> set[str]:
    """Those that nodes of a pool can run pods of."""
    nodes = [node for node in prediction.installation.nodes if node.pool == pool]
    found = set()
    for item in prediction.installation.objects:
        if item.get("kind") == "RuntimeClass":
            placement = placement_of("Pod", {"tolerations": [{"operator": "Exists"}]}, item)
            if any(placement.takes(node) for node in nodes):
                found.add(str(item["metadata"]["name"]))
    return found
