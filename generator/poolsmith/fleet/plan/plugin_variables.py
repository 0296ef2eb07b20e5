"""What the device plugin is told of modules beside the drivers, where driver objects describe those.

The operator reads them from the ClusterPolicy. Its own switches there would do more: the validator would wait for the
modules on every node.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.gpu.catalog.operator_behaviour import driver_object_behaviour_at

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts

_ENV = ("devicePlugin", "env")
_ON = "true"


def tell_the_plugin(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """Variables of the device plugin, after those that the container runtime asks for."""
    variables = driver_object_behaviour_at(facts.need_release().tag)["pluginVariables"]
    asking = {
        module: found
        for module in variables
        if (found := [pool for pool in managed if getattr(pool.profile.spec.driver, module)])
    }
    if not asking:
        return plan
    before = plan.setting(*_ENV)
    lines = tuple(facts.at_pool(pool, f"/spec/driver/{module}") for module, pools in asking.items() for pool in pools)
    because = "the device plugin does not see in driver objects which modules are loaded"
    told = [{"name": name, "value": _ON} for module in asking for name in variables[module]]
    if before is not None:
        told = [*before.value, *told]
        lines = (before.origin, *lines)
    setting = ValueSetting(_ENV, told, Derived("plugin_variables", because, lines))
    values = (*(item for item in plan.values if item is not before), setting)
    return replace(plan, values=values, notes=(*plan.notes, *_note(asking, managed)))


def _note(asking: dict[str, list[PoolPlan]], managed: list[PoolPlan]) -> list[str]:
    """The device plugin has one environment in a cluster."""
    names = {pool.name for pools in asking.values() for pool in pools}
    others = [pool.name for pool in managed if pool.name not in names]
    if not others:
        return []
    said = (
        f"The device plugin is told of {' and '.join(asking)} on all nodes, also of {listed(others)} without such a "
        "module: its variables are one list for the cluster."
    )
    return [said]
