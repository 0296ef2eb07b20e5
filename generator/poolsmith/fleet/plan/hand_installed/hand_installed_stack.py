"""The passes that only a cluster without the operator has.

Driver and toolkit are on the hosts; what only the operator could do is refused. The operator's passes judge whether MIG
and sharing fit. Partitions are made on the hosts, before the device plugin starts: nothing here makes them, and
the plugin is only configured to name and share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.record import replace
from poolsmith.fleet.plan.delivery.chart_delivery import SYSTEM_NAMESPACES
from poolsmith.fleet.plan.driver.driver_compatibility import check_gpu_support, check_host_services
from poolsmith.fleet.plan.driver.driver_source import check_stated_version
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, DriverPlan, LabelSetting, NamespacePlan, PoolPlan
from poolsmith.fleet.plan.sharing.gpu_sharing import SHARING, share_gpus
from poolsmith.fleet.plan.sharing.mig import partition_gpus
from poolsmith.fleet.plan.sharing.mig_checks import LAYOUT
from poolsmith.fleet.profiles.acknowledged_facts import MIG_PARTITIONS
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG, MPS_CAPABLE
from poolsmith.gpu.drivers.driver_support import carries_driver

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
    check_stated_version(pool, facts)
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
    check_gpu_support(pool, driver, facts)
    check_host_services(pool, driver, facts)
    return replace(pool, driver=driver, toolkit="preinstalled")


def use_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Resources, strategies, and the plugin's configurations; nothing of it is a value of the operator's chart."""
    judged = partition_gpus(plan, facts)
    plan = replace(judged, values=plan.values, config_maps=plan.config_maps)
    plan = map_pools(plan, lambda pool: _without_manager(pool, facts))
    plan = share_gpus(plan, facts)
    return map_pools(plan, lambda pool: _serve_mps(plan, pool, facts))


def _without_manager(pool: PoolPlan, facts: Facts) -> PoolPlan:
    """No MIG manager reads its label here; somebody has to say that the hosts make the partitions."""
    if pool.profile.spec.gpu.mig is None:
        return pool
    if all(item.fact != MIG_PARTITIONS for item in pool.profile.spec.acknowledge):
        facts.report_pool(
            gpu_use.PARTITIONS_UNDECLARED,
            pool,
            LAYOUT,
            f"nothing says that the hosts of pool `{pool.name}` make these partitions, and this stack has no MIG "
            "manager",
            help=f"make them with nvidia-mig-parted before the kubelet starts, and write `acknowledge: [{{fact: "
            f"{MIG_PARTITIONS}}}]`",
        )
    return replace(pool, labels=tuple(label for label in pool.labels if label.key != MIG_CONFIG))


def _serve_mps(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolPlan:
    """The control daemon runs where a label says so; without GPU feature discovery the provisioner has to write it."""
    if pool.profile.spec.sharing.mps is None or plan.cluster.spec.stack.gpu_feature_discovery:
        return pool
    label = LabelSetting(MPS_CAPABLE, "true", "provisioner", facts.at_pool(pool, f"{SHARING}/mps"))
    return replace(pool, labels=(*pool.labels, label))


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
