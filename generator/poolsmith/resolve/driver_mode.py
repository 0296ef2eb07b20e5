"""Pass: who describes the drivers: one ClusterPolicy, or an NVIDIADriver per pool. Floor: resolve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.diagnostics.codes import shape
from poolsmith.model.cluster import DriverMode
from poolsmith.model.driver import KernelModuleType, UpgradePolicy
from poolsmith.model.origin import Derived
from poolsmith.model.plan import ClusterPlan, PoolDriverObject, PoolPlan, ValueSetting
from poolsmith.resolve.drivers import os_tag
from poolsmith.resolve.facts import agreed, map_pools, with_singleton, with_values
from poolsmith.resolve.scheduling import tolerations_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.model.plan import DriverPlan
    from poolsmith.resolve.facts import Facts

MODE = "/spec/stack/driverMode"
_LONGEST_LABEL_VALUE = 63


def choose_driver_mode(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Values of the ClusterPolicy's driver, and driver objects where the cluster asks for them."""
    managed = [pool for pool in plan.pools if pool.driver is not None and pool.driver.managed]
    plan = _install_dir(plan, facts)
    if not managed:
        return _no_driver(plan, facts)
    plan = with_singleton(
        plan,
        "driver mode",
        plan.driver_mode.value,
        managed,
        "stack.driverMode; changing it replaces every driver pod",
    )
    plan = _upgrade_policy(plan, managed, facts)
    if plan.driver_mode is DriverMode.CLUSTER_POLICY:
        return _cluster_policy(plan, managed, facts)
    return _driver_objects(plan, managed, facts)


def _no_driver(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    if plan.driver_mode is DriverMode.NVIDIA_DRIVER:
        facts.report_cluster(
            codes.DRIVER_CONTRADICTION,
            MODE,
            "driverMode is nvidia-driver, and no pool has a driver that the operator installs",
            help="remove `driverMode`",
        )
    origins = tuple(pool.driver.origin for pool in plan.pools if pool.driver is not None)
    because = "no pool has a driver that the operator installs"
    plan = map_pools(plan, lambda pool: _without_label(pool, facts.catalog.releases.labels.deploy_driver))
    return with_values(plan, ValueSetting(("driver", "enabled"), False, Derived("driver_mode", because, origins)))


def _without_label(pool: PoolPlan, key: str) -> PoolPlan:
    """Without driver pods in the cluster, nothing has to be kept off the nodes."""
    return replace(pool, labels=tuple(label for label in pool.labels if label.key != key))


def _install_dir(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    with_driver = [pool for pool in plan.pools if pool.driver is not None]
    if not any(pool.driver and pool.driver.install_dir for pool in with_driver):
        return plan
    value, first, other = agreed(with_driver, lambda pool: pool.driver and pool.driver.install_dir)
    if other is not None:
        with_dir = first if value else other
        without = other if with_dir is first else first
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            with_dir,
            "/spec/driver/installDir",
            f"pools `{with_dir.name}` and `{without.name}` have their driver in different folders; a cluster has one",
            help="move one of the pools to a cluster of its own",
            related=((without, "/spec/driver", "the other pool"),),
        )
    origin = facts.at_pool(first, "/spec/driver/installDir")
    plan = with_singleton(plan, "driver folder", str(value), with_driver, "hostPaths.driverInstallDir")
    return with_values(plan, ValueSetting(("hostPaths", "driverInstallDir"), value, origin))


def _cluster_policy(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    differences: tuple[tuple[str, str, Callable[[PoolPlan], Any]], ...] = (
        ("driver source", "/spec/driver/source", lambda pool: _driver(pool).source),
        ("driver version", "/spec/driver/version", lambda pool: _driver(pool).version),
        ("driver repository", "/spec/driver/repository", lambda pool: _driver(pool).repository),
        (
            "kernel module type",
            "/spec/driver/kernelModuleType",
            lambda pool: _driver(pool).kernel_module_type,
        ),
        ("RDMA setting", "/spec/driver/rdma", lambda pool: pool.profile.spec.driver.rdma),
        (
            "host MOFED setting",
            "/spec/driver/useHostMofed",
            lambda pool: pool.profile.spec.driver.use_host_mofed,
        ),
        ("GDS setting", "/spec/driver/gds", lambda pool: pool.profile.spec.driver.gds),
        ("GDRCopy setting", "/spec/driver/gdrcopy", lambda pool: pool.profile.spec.driver.gdrcopy),
    )
    for what, pointer, value_of in differences:
        value, first, other = agreed(managed, value_of)
        if other is not None:
            facts.report_pool(
                codes.DRIVER_DISAGREEMENT,
                other,
                pointer,
                f"pools `{first.name}` and `{other.name}` differ in their {what} ({_shown(value)}, "
                f"{_shown(value_of(other))}), and one ClusterPolicy describes the driver of all",
                help="write `stack: {driverMode: nvidia-driver}` in cluster.yaml for one driver object per pool",
                related=((first, pointer, "the other pool"),),
            )
            return plan
    if not _one_system(plan, managed, facts):
        return plan
    first = managed[0]
    driver = _driver(first)
    asked = first.profile.spec.driver
    chart = facts.need_chart()
    settings = [
        ValueSetting(("driver", "version"), driver.version, driver.version_origin),
        ValueSetting(("driver", "usePrecompiled"), driver.precompiled, driver.origin),
        ValueSetting(("driver", "repository"), driver.repository, facts.at_pool(first, "/spec/driver/repository")),
        ValueSetting(("driver", "rdma", "enabled"), asked.rdma, facts.at_pool(first, "/spec/driver/rdma")),
        ValueSetting(
            ("driver", "rdma", "useHostMofed"),
            asked.use_host_mofed,
            facts.at_pool(first, "/spec/driver/useHostMofed"),
        ),
        ValueSetting(("gds", "enabled"), asked.gds, facts.at_pool(first, "/spec/driver/gds")),
        ValueSetting(("gdrcopy", "enabled"), asked.gdrcopy, facts.at_pool(first, "/spec/driver/gdrcopy")),
    ]
    if driver.kernel_module_type is not None:
        field, value = _module_field(driver.kernel_module_type, facts)
        origin = facts.at_pool(first, "/spec/driver/kernelModuleType")
        settings.append(ValueSetting(("driver", field), value, origin))
    kept = [setting for setting in settings if chart.default(setting.path) != setting.value]
    return with_values(plan, *kept)


def _one_system(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> bool:
    """The operator names the driver image after whichever GPU node it lists first, driver or not."""
    system, first, other = agreed(plan.pools, lambda pool: os_tag(pool, facts))
    if other is None:
        return True
    bystander = first if first not in managed else other
    why = "" if bystander in managed else f"; it does not matter that `{bystander.name}` needs none of it"
    facts.report_pool(
        codes.DRIVER_DISAGREEMENT,
        other,
        "/spec/os",
        f"pools `{first.name}` ({system}) and `{other.name}` ({os_tag(other, facts)}) run different systems, and under "
        f"one ClusterPolicy the driver image is named after whichever node the operator lists first{why}",
        help="write `stack: {driverMode: nvidia-driver}` in cluster.yaml for one driver object per pool",
        related=((first, "/spec/os", "the other pool"),),
    )
    return False


def _driver_objects(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    mode = facts.at_cluster(MODE)
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
    return replace(plan, driver_objects=objects)


def _driver_object(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolDriverObject:
    driver = _driver(pool)
    asked = pool.profile.spec.driver
    chart = facts.need_chart()
    spec: dict[str, Any] = {
        "driverType": "gpu",
        "usePrecompiled": driver.precompiled,
        "repository": driver.repository,
        "image": driver.image,
        "version": driver.version,
        "nodeSelector": {plan.cluster.spec.pool_label: pool.label_value},
    }
    if "default" in chart.nvidia_driver_fields:
        spec["default"] = False
    if extra := tolerations_of(pool.taints_of_new_nodes):
        spec["tolerations"] = extra
    priority = chart.default(("daemonsets", "priorityClassName"))
    if priority and "priorityClassName" in chart.nvidia_driver_fields:
        spec["priorityClassName"] = priority
    if driver.kernel_module_type is not None:
        field, value = _module_field(driver.kernel_module_type, facts)
        spec[field] = value
    if asked.rdma or asked.use_host_mofed:
        spec["rdma"] = {"enabled": asked.rdma, "useHostMofed": asked.use_host_mofed}
    for name, wanted in (("gds", asked.gds), ("gdrcopy", asked.gdrcopy)):
        if wanted:
            spec[name] = {
                "enabled": True,
                **{key: chart.default((name, key)) for key in ("repository", "image", "version")},
            }
    if facts.need_release().driver_object.upgrade_policy and driver.upgrade_policy is not None:
        spec["upgradePolicy"] = _policy_fields(driver.upgrade_policy)
    return PoolDriverObject(pool=pool.name, name=_object_name(pool, facts), spec=spec, origin=driver.origin)


def _object_name(pool: PoolPlan, facts: Facts) -> str:
    """Type and precompiled are immutable, so that a change of them is another object."""
    name = f"{pool.name}-gpu-{'precompiled' if _driver(pool).precompiled else 'compiled'}"
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


def _upgrade_policy(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """Per object where the release has the field there; else one policy for the cluster."""
    per_object = plan.driver_mode is DriverMode.NVIDIA_DRIVER and facts.need_release().driver_object.upgrade_policy
    given = [pool for pool in managed if _driver(pool).upgrade_policy is not None]
    if per_object or not given:
        return plan
    policy, first, other = agreed(given, lambda pool: _driver(pool).upgrade_policy)
    pointer = "/spec/driver/upgradePolicy"
    if other is not None:
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            other,
            pointer,
            f"pools `{first.name}` and `{other.name}` have different upgrade policies; {facts.need_release().tag} "
            "has one for the cluster",
            help="give both the same policy, for example in a base",
            related=((first, pointer, "the other pool"),),
        )
        return plan
    chart = facts.need_chart()
    origin = facts.at_pool(first, pointer)
    settings = [
        ValueSetting(("driver", "upgradePolicy", *path), value, origin)
        for path, value in _leaves(_policy_fields(policy))
        if chart.default(("driver", "upgradePolicy", *path)) != value
    ]
    plan = with_singleton(plan, "driver upgrade policy", "driver.upgradePolicy", given, "one for the cluster")
    return with_values(plan, *settings)


def _policy_fields(policy: UpgradePolicy) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "autoUpgrade": policy.auto_upgrade,
        "maxParallelUpgrades": policy.max_parallel_upgrades,
        "maxUnavailable": policy.max_unavailable,
        "drain": {
            "enable": policy.drain.enable,
            "force": policy.drain.force,
            "deleteEmptyDir": policy.drain.delete_empty_dir,
            "timeoutSeconds": policy.drain.timeout_seconds,
        },
    }
    if policy.drain.pod_selector:
        fields["drain"]["podSelector"] = policy.drain.pod_selector
    return fields


def _leaves(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        found.extend(_leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)])
    return found


def _module_field(chosen: KernelModuleType, facts: Facts) -> tuple[str, Any]:
    field = facts.need_release().driver_object.module_field
    return field, chosen.value if field == "kernelModuleType" else chosen is KernelModuleType.OPEN


def _driver(pool: PoolPlan) -> DriverPlan:
    assert pool.driver is not None
    return pool.driver


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)
