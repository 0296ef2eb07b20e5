"""How devices get into containers: what the cluster's own values say, else the release. Floor: resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from poolsmith.model.plan import ClusterPlan
    from poolsmith.resolve.facts import Facts


def uses_cdi(plan: ClusterPlan, facts: Facts) -> bool:
    """Whether the operator hands devices to the runtime by the Container Device Interface."""
    asked = value_at(plan.cluster.spec.stack.values, ("cdi", "enabled"))
    return asked if isinstance(asked, bool) else facts.need_release().cdi_default


def uses_nri(plan: ClusterPlan) -> bool:
    """Whether the toolkit is to be a plugin of the runtime, without runtime classes."""
    return value_at(plan.cluster.spec.stack.values, ("cdi", "nriPluginEnabled")) is True
