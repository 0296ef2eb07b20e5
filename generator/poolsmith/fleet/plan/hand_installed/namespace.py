"""Pass: the Pod Security level of the namespace that the stack runs in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.fleet.plan.delivery import SYSTEM_NAMESPACES
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, NamespacePlan

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


def plan_namespace(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Device plugin and exporter mount host folders, which Pod Security `baseline` refuses."""
    if plan.namespace in SYSTEM_NAMESPACES:
        return plan
    origin = Derived(
        "hand_installed",
        "the device plugin mounts host folders",
        (facts.at_cluster("/spec/stack/namespace"),),
    )
    return replace(plan, namespaces=(NamespacePlan(name=plan.namespace, level="privileged", origin=origin),))
