"""Passes for the Kubernetes distribution: support matrices, node tools, the kubelet's folder, and a quota for pods.

Where the support matrices say nothing, that is noted. Some clouds admit system-critical pods only where there is a
quota for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject, ValueSetting
from poolsmith.fleet.profiles.node_pool import NodeTool

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


def note_support(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """A combination without a row is generated, with a note per pool."""
    release = facts.need_release()
    kubernetes = plan.cluster.spec.kubernetes
    matrix = facts.catalog.support_matrices.get(release.line)
    if matrix is None:
        facts.report_cluster(
            codes.NO_SUPPORT_ROW,
            "/spec/stack/release",
            f"the catalog has no support matrix for {release.tag}; whether the combination is supported is unknown",
            help="nothing to do, if it works for you",
        )
        return plan
    column = facts.distribution.column if facts.distribution else "kubernetes"
    for pool in plan.pools:
        spec = pool.profile.spec
        pointers = {system.version: system.version_pointer for system in spec.systems}
        for version, pointer in pointers.items():
            if matrix.covers(os_id=spec.os.id, os_version=version, column=column, kubernetes=kubernetes.version):
                continue
            own = matrix.own_versions(os_id=spec.os.id, os_version=version, column=column)
            told = (
                f"the matrix of {release.line} names {kubernetes.distribution} by its own versions, {listed(own)} with "
                f"{spec.os.id} {version}, and not Kubernetes {kubernetes.version}"
                if own
                else f"the matrix of {release.line} has no row for {spec.os.id} {version} with "
                f"{kubernetes.distribution} {kubernetes.version}"
            )
            facts.report_pool(
                codes.NO_SUPPORT_ROW,
                pool,
                pointer if len(pointers) > 1 else "/spec/os",
                told,
                help="nothing to do, if it works for you",
            )
    return plan


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


PATH = ("hostPaths", "kubeletRootDir")


def find_kubelet(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Of releases that can be told; the exporter asks the kubelet there which pod has which GPU."""
    distribution = facts.distribution
    if distribution is None or distribution.kubelet_root is None or not facts.need_chart().accepts(PATH):
        return plan
    if value_at(plan.cluster.spec.stack.values, PATH, MISSING) is not MISSING:
        return plan
    origin = Derived(
        "kubelet_root",
        f"the kubelet of {distribution.name} keeps its files there",
        (
            facts.at_cluster("/spec/kubernetes/distribution"),
            FromCatalog(f"distributions/{distribution.name}", distribution.source),
        ),
    )
    return with_values(plan, ValueSetting(PATH, distribution.kubelet_root, origin))


NAME = "poolsmith-critical-pods"
_BECAUSE = "this distribution admits system-critical pods only where a quota names their priority classes"


def allow_critical_pods(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """For the stack's namespace: operator, operands, device plugin and toolkit overlays have these classes."""
    critical = facts.catalog.scheduling.critical_pods
    if not critical.guarded(plan.cluster.spec.kubernetes.distribution, plan.namespace):
        return plan
    distribution = facts.at_cluster("/spec/kubernetes/distribution")
    origin = Derived("priority_quota", _BECAUSE, (distribution, FromCatalog("scheduling", critical.source)))
    expression = {"operator": "In", "scopeName": "PriorityClass", "values": list(critical.classes)}
    body = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": NAME, "namespace": plan.namespace},
        "spec": {"hard": {"pods": critical.pods}, "scopeSelector": {"matchExpressions": [expression]}},
    }
    quota = KubernetesObject(file="critical-pods.yaml", body=body, origin=origin)
    return replace(plan, quotas=(*plan.quotas, quota))
