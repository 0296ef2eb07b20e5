"""How devices get into containers: what a system needs, else what the cluster's values say, else the release's default.

Source of what Container-Optimized OS needs: NVIDIA/cloud-native-docs@gpu-operator-v25.3-16:gpu-operator/google-gke.rst
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.facts import with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.operands import read_operands

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


CDI = ("cdi", "enabled")
_INSTEAD = "instead"
_DEFAULT_MODE = ("cdi", "default")
_SYSTEM = "/spec/os/id"


def choose_injection(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """CDI is switched on, and made the runtime's default mode, where a system needs it and the release has it off."""
    needing = needing_cdi(plan, facts)
    if not needing or facts.need_release().cdi_default:
        return plan
    because = f"{needing[0].profile.spec.os.id} hands GPUs to containers by CDI only"
    origin = Derived("device_injection", because, tuple(facts.at_pool(pool, _SYSTEM) for pool in needing))
    plan = with_singleton(plan, "device injection", "CDI", needing, "cdi.enabled, cdi.default")
    return with_values(plan, ValueSetting(CDI, True, origin), ValueSetting(_DEFAULT_MODE, True, origin))


def needing_cdi(plan: ClusterPlan, facts: Facts) -> list[PoolPlan]:
    """Pools whose system hands GPUs to containers in no other way."""
    systems = facts.catalog.operating_systems
    return [
        pool
        for pool in plan.pools
        if pool.profile.spec.workload is Workload.CONTAINER
        and (entry := systems.get(pool.profile.spec.os.id)) is not None
        and entry.cdi
    ]


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
