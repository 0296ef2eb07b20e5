"""Pass: a quota where a cloud admits system-critical pods by quota only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts

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
