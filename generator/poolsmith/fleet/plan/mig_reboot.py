"""Pass: nodes that have to reboot before their GPUs can be partitioned.

A virtual machine can't reset a GPU that is passed through to it, and MIG mode takes a reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

ALWAYS = "always"
VARIABLE = "WITH_REBOOT"
_PATH = ("migManager", "env")
_LAYOUT = "/spec/gpu/mig/layout"


def reboot_nodes(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Where the platform always needs it; who gives the variables of the MIG manager decides by oneself."""
    users = [pool for pool in plan.pools if pool.profile.spec.gpu.mig is not None]
    distribution = facts.distribution
    if not users or distribution is None or distribution.mig_reboot != ALWAYS:
        return plan
    if value_at(plan.cluster.spec.stack.values, _PATH) is not None:
        return plan
    asked = (
        facts.at_cluster("/spec/kubernetes/distribution"),
        *(facts.at_pool(pool, _LAYOUT) for pool in users),
        FromCatalog(f"distributions/{distribution.name}", distribution.source),
    )
    why = f"on {distribution.name} MIG mode changes only when the node reboots"
    value = [{"name": VARIABLE, "value": "true"}]
    return with_values(plan, ValueSetting(_PATH, value, Derived("mig_reboot", why, asked)))
