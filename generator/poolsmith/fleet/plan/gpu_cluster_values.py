"""Pass: `stack.values` that ask for a GPUCluster, whose pools are planned in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.sources.nested import value_at

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

DEPLOYED = ("gpuCluster", "deployCR")


def refuse_gpu_cluster_by_values(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Pools are planned for one kind of stack; values can't turn it into another one."""
    if value_at(plan.cluster.spec.stack.values, DEPLOYED) is True:
        facts.report_cluster(
            codes.STACK_CONTRADICTION,
            "/spec/stack/values/gpuCluster/deployCR",
            "a GPUCluster stands in the place of the ClusterPolicy that these pools are planned for",
            help="write `stack: {kind: gpu-cluster}`, and remove `gpuCluster` and `clusterPolicy` from stack.values",
        )
    return plan
