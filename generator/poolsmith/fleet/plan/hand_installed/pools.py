"""Pass: driver and toolkit are on the hosts; what only the operator could do is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.fleet.plan.drivers import check_told_version
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import ClusterPlan, DriverPlan, PoolPlan
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.drivers.carried import carries_driver

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


def check_hand_installed(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Also gives each pool the driver of its hosts."""
    stack = plan.cluster.spec.stack
    if stack.driver_mode is not DriverMode.CLUSTER_POLICY:
        _refuse_stack(facts, "/spec/stack/driverMode", "driverMode belongs to the operator", "remove `driverMode`")
    if stack.values:
        _refuse_stack(facts, "/spec/stack/values", "values belong to the operator's chart", "remove `values`")
    return map_pools(plan, lambda pool: _check_pool(pool, facts))


def _refuse_stack(facts: Facts, pointer: str, what: str, help_text: str) -> None:
    facts.report_cluster(codes.STACK_CONTRADICTION, pointer, f"{what}, and this stack has none", help=help_text)


def _check_pool(pool: PoolPlan, facts: Facts) -> PoolPlan:
    spec = pool.profile.spec
    wanted = (
        ("/spec/workload", spec.workload is not Workload.CONTAINER, f"workload `{spec.workload}`"),
        (
            "/spec/driver/source",
            spec.driver.source not in (None, DriverSource.PREINSTALLED),
            "a driver container",
        ),
        ("/spec/toolkit/source", spec.toolkit.source not in ("auto", "preinstalled"), "an installed toolkit"),
        ("/spec/driver/upgradePolicy", spec.driver.upgrade_policy is not None, "driver upgrades"),
        ("/spec/driver/vgpu", spec.driver.vgpu is not None, "the licence of a vGPU guest"),
    )
    for pointer, asked, what in wanted:
        if asked:
            facts.report_pool(
                codes.STACK_CONTRADICTION,
                pool,
                pointer,
                f"pool `{pool.name}` asks for {what}; without the operator nothing provides it",
                help="remove it, or write `stack: {kind: operator}`",
            )
    if spec.driver.source is None and not carries_driver(facts.catalog.operating_systems.get(spec.os.id)):
        facts.report_pool(
            codes.DRIVER_SOURCE_MISSING,
            pool,
            "/spec/driver",
            f"pool `{pool.name}` does not say where its driver comes from",
            help="write `driver: {source: preinstalled}`",
        )
    check_told_version(pool, facts)
    origin = facts.at_pool(pool, "/spec/driver/source")
    driver = DriverPlan(
        source=DriverSource.PREINSTALLED.value,
        version=spec.driver.version,
        repository="",
        image="",
        os_tags=(),
        kernel_module_type=None,
        upgrade_policy=None,
        install_dir=spec.driver.install_dir,
        origin=origin,
        version_origin=facts.at_pool(pool, "/spec/driver/version"),
    )
    return replace(pool, driver=driver, toolkit="preinstalled")
