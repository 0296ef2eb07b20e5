"""How devices get into containers: what the cluster's own values say, else the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.operands import read_operands
from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts
    from poolsmith.plan.plan import ClusterPlan

CDI = ("cdi", "enabled")
_INSTEAD = "instead"


def uses_cdi(plan: ClusterPlan, facts: Facts) -> bool:
    """Whether the operator hands devices to the runtime by the Container Device Interface."""
    asked = asked_cdi(plan)
    if asked is not None:
        return asked
    decided = plan.setting(*CDI)
    return bool(decided.value) if decided is not None else facts.need_release().cdi_default


def asked_cdi(plan: ClusterPlan) -> bool | None:
    """What the cluster's own values say; None where they leave it to the release and the pools."""
    asked = value_at(plan.cluster.spec.stack.values, CDI)
    return asked if isinstance(asked, bool) else None


def uses_nri(plan: ClusterPlan) -> bool:
    """Whether the toolkit is to be a plugin of the runtime, without runtime classes."""
    return value_at(plan.cluster.spec.stack.values, ("cdi", "nriPluginEnabled")) is True


def leaves_configuration(plan: ClusterPlan, facts: Facts) -> bool:
    """Whether the toolkit does not touch the runtime's configuration, so that nobody has to know where it is."""
    operands = read_operands(facts.need_release().tag)
    return uses_nri(plan) and operands is not None and operands.behaviour["nri"] == _INSTEAD
