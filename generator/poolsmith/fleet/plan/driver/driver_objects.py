"""One NVIDIADriver per pool, and the device plugin's variables for the modules that these objects describe.

The operator reads the modules from the ClusterPolicy. Its own switches there would do more: the validator would wait
for the modules on every node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import replace
from poolsmith.fleet.plan.driver.driver_files import file_fields
from poolsmith.fleet.plan.driver.upgrade_policies import policy_fields
from poolsmith.fleet.plan.driver.vgpu_guests import licensing_fields
from poolsmith.fleet.plan.facts import driver_of, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, PoolDriverObject, PoolPlan, ValueSetting
from poolsmith.fleet.plan.taints import tolerations_of
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.driver import KernelModuleType, UpgradePolicy
from poolsmith.gpu.catalog.releases import driver_object_behaviour_at
from poolsmith.gpu.drivers.driver_support import TYPE, field_value, module_field, told_by_variable

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan
    from poolsmith.gpu.catalog.charts import Chart


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
        f"The device plugin has {' and '.join(asking)} switched on for all nodes, also of {listed(others)} without "
        f"such a module: its variables are one list for the cluster."
    )
    return [said]


MODE = "/spec/stack/driverMode"
KIND = "/spec/stack/kind"
_LONGEST_LABEL_VALUE = 63


def driver_objects(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """An object for each pool, and none by the chart. Its name and its selector are the pool's alone."""
    by_claims = plan.cluster.spec.stack.kind is StackKind.GPU_CLUSTER
    mode = facts.at_cluster(KIND if by_claims else MODE)
    because = "every pool has a driver object of its own, and the chart's default object would match their nodes too"
    plan = with_values(
        plan,
        ValueSetting(("driver", "nvidiaDriverCRD", "enabled"), True, mode),
        ValueSetting(("driver", "nvidiaDriverCRD", "deployDefaultCR"), False, Derived("driver_mode", because, (mode,))),
    )
    maturity = facts.need_release().driver_object.maturity
    if maturity is not None:
        facts.report_cluster(
            codes.NO_SUPPORT_ROW,
            MODE,
            f"NVIDIADriver is a {maturity} in {facts.need_release().tag}",
            help="nothing to do, if you accept that; from v26.3 on it is supported",
        )
    objects = tuple(_driver_object(plan, pool, facts) for pool in managed)
    plan = replace(plan, driver_objects=objects)
    return plan if by_claims else tell_the_plugin(plan, managed, facts)


def of_its_pods(pool: PoolPlan, chart: Chart) -> dict[str, Any]:
    """What each NVIDIADriver of a pool says of its pods, as far as the release knows the fields."""
    spec: dict[str, Any] = {"default": False} if "default" in chart.nvidia_driver_fields else {}
    if extra := tolerations_of(pool.taints_of_new_nodes):
        spec["tolerations"] = extra
    priority = chart.default(("daemonsets", "priorityClassName"))
    if priority and "priorityClassName" in chart.nvidia_driver_fields:
        spec["priorityClassName"] = priority
    return spec


def _driver_object(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolDriverObject:
    driver = driver_of(pool)
    asked = pool.profile.spec.driver
    chart = facts.need_chart()
    spec: dict[str, Any] = {
        "driverType": driver.kind,
        "usePrecompiled": driver.precompiled,
        "repository": driver.repository,
        "image": driver.image,
        "version": driver.version,
        "nodeSelector": {plan.cluster.spec.pool_label: pool.label_value},
    }
    spec |= of_its_pods(pool, chart)
    if driver.kernel_module_type is not None:
        spec |= module_fields(driver, driver.kernel_module_type, facts)
    if driver.vgpu is not None:
        spec["licensingConfig"] = licensing_fields(driver.vgpu, "name")
    spec |= file_fields(asked)
    if asked.rdma or asked.use_host_mofed:
        spec["rdma"] = {"enabled": asked.rdma, "useHostMofed": asked.use_host_mofed}
    for name, wanted in (("gds", asked.gds), ("gdrcopy", asked.gdrcopy)):
        if wanted:
            spec[name] = {
                "enabled": True,
                **{key: chart.default((name, key)) for key in ("repository", "image", "version")},
            }
    if facts.need_release().driver_object.upgrade_policy:
        spec["upgradePolicy"] = policy_fields(driver.upgrade_policy or UpgradePolicy())
    return PoolDriverObject(pool=pool.name, name=_object_name(pool, facts), spec=spec, origin=driver.origin)


def _object_name(pool: PoolPlan, facts: Facts) -> str:
    """Type and precompiled are immutable, so that a change of them is another object."""
    driver = driver_of(pool)
    name = f"{pool.object_name}-{driver.kind}-{'precompiled' if driver.precompiled else 'compiled'}"
    excess = len(name) - _LONGEST_LABEL_VALUE
    if facts.need_release().driver_object.overlap == "owner" and excess > 0:
        facts.report_pool(
            shape.INVALID_NAME,
            pool,
            "/metadata/name",
            f"the driver object `{name}` is too long: {facts.need_release().tag} labels nodes with its name",
            help=f"shorten the pool's name by {excess} characters",
        )
    return name


def module_fields(driver: DriverPlan, chosen: KernelModuleType, facts: Facts) -> dict[str, Any]:
    """The kind of kernel modules, as the release takes it below `driver` and in an NVIDIADriver.

    Before 25.3 newer driver containers don't honour the release's field, and want a variable.
    """
    field = module_field(facts.need_release().tag)
    fields: dict[str, Any] = {field: field_value(field, chosen.value)}
    if field == TYPE:
        return fields
    told = driver.version if driver.branch is not None else None
    if told is not None and told_by_variable(told, facts.catalog.driver_images):
        fields["env"] = [{"name": "KERNEL_MODULE_TYPE", "value": chosen.value}]
    return fields
