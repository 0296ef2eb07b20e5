"""Pass: what a GPUCluster, asked for by `stack.values`, has nothing of.

Its GPUs are given out by claims: no device plugin, toolkit, MIG manager or sandboxes.
Source: NVIDIA/gpu-operator@v26.7.0:controllers/nodelabeling_controller.go, internal/state/gpucluster.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.profiles.node_pool import ToolkitSource, Workload
from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts
    from poolsmith.plan.plan import ClusterPlan, PoolPlan

DEPLOYED = ("gpuCluster", "deployCR")
_TOOLKIT = "/spec/toolkit/source"


def is_gpu_cluster(plan: ClusterPlan) -> bool:
    return value_at(plan.cluster.spec.stack.values, DEPLOYED) is True


def check_gpu_cluster(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Refuse what nothing of such a cluster would provide, at the pool's line."""
    if is_gpu_cluster(plan):
        for pool in plan.pools:
            _check(pool, facts)
    return plan


def _check(pool: PoolPlan, facts: Facts) -> None:
    spec = pool.profile.spec
    shared = spec.sharing.time_slicing is not None or spec.sharing.mps is not None
    toolkit = spec.workload is Workload.CONTAINER and spec.toolkit.source is not ToolkitSource.PREINSTALLED
    for pointer, asked, what, advice in (
        ("/spec/workload", spec.workload is not Workload.CONTAINER, f"workload `{spec.workload}`", "remove it"),
        ("/spec/gpu/mig", spec.gpu.mig is not None, "MIG partitioning", "remove it"),
        ("/spec/sharing", shared, "GPU sharing", "remove it"),
        (_TOOLKIT, toolkit, "a container toolkit", "install one on the nodes, and write `source: preinstalled`"),
    ):
        if asked:
            facts.report_pool(
                codes.STACK_CONTRADICTION,
                pool,
                pointer,
                f"pool `{pool.name}` asks for {what}, and a GPUCluster (`gpuCluster.deployCR`) brings none",
                help=f"{advice}, or leave the cluster to its ClusterPolicy",
            )
