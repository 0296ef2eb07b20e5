"""Where the pods of this stack run: on the nodes of the pools, whatever their taints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.plan.scheduling import missing_tolerations

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan

GPU_TOLERATION: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def pool_affinity(plan: ClusterPlan) -> dict[str, Any]:
    """By the label that tells pools apart."""
    values = sorted(pool.label_value for pool in plan.pools)
    expression = {"key": plan.cluster.spec.pool_label, "operator": "In", "values": values}
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def tolerations_over(plan: ClusterPlan, present: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`present`, and what the taints of the pools need beside it."""
    taints = [taint for pool in plan.pools for taint in pool.taints_of_new_nodes]
    return [*present, *missing_tolerations(taints, present)]
