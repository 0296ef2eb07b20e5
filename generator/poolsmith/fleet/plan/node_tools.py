"""Pass: what makes the nodes of a pool is something that the distribution's nodes can be made by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility
from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.profiles.provisioned_by import NodeTool

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

FIELD = "/spec/nodes/provisionedBy"
_ONLY_ON = {
    NodeTool.TALOS: ("talos",),
    NodeTool.EKS: ("eks",),
    NodeTool.GKE: ("gke",),
    NodeTool.AKS: ("aks",),
    NodeTool.CLUSTER_API: ("kubeadm", "rke2", "k3s", "eks", "gke", "aks"),
}
"""Where a patch for the tool is known; Karpenter's NodePool is the same everywhere."""


def check_node_tools(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Each pool's own."""
    distribution = plan.cluster.spec.kubernetes.distribution
    for pool in plan.pools:
        given = pool.profile.spec.nodes.provisioned_by
        if given is None:
            continue
        fitting = _ONLY_ON.get(given.tool)
        if fitting is not None and distribution not in fitting:
            facts.report_pool(
                compatibility.FIELD_WITHOUT_EFFECT,
                pool,
                f"{FIELD}/tool",
                f"there is no patch for {given.tool} on the distribution `{distribution}`, only on {listed(fitting)}",
                help=f"remove `provisionedBy`: expected/node-labels/{pool.name}.yaml has what the nodes need",
            )
        elif given.template is not None and given.tool is not NodeTool.CLUSTER_API:
            facts.report_pool(
                compatibility.FIELD_WITHOUT_EFFECT,
                pool,
                f"{FIELD}/template",
                f"only Cluster API has bootstrap templates, and these nodes are made by {given.tool}",
                help="remove `template`",
            )
    return plan
