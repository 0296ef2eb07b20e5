"""Pass: who describes the drivers: one ClusterPolicy, or an NVIDIADriver per pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.node_software import DRIVER_VERSION_UNSTATED
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import replace
from poolsmith.fleet.plan.driver.driver_files import agree_on_folders, brought_files, file_values, files_note
from poolsmith.fleet.plan.driver.driver_objects import MODE, driver_objects, module_fields
from poolsmith.fleet.plan.driver.driver_source import system_tags
from poolsmith.fleet.plan.driver.upgrade_policies import agree_on_upgrades
from poolsmith.fleet.plan.driver.vgpu_guests import licence_note, licensing_fields
from poolsmith.fleet.plan.facts import agreed, driver_of, map_pools, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.fleet.profiles.cluster import DriverMode, StackKind
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import DEPLOY_DRIVER
from poolsmith.gpu.catalog.releases import behaviour_at, name_of_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.node_pool import NodeSystem


_OBJECT_PER_POOL = "write `stack: {driverMode: nvidia-driver}` in cluster.yaml for one driver object per pool"
_COMMON: tuple[tuple[str, str, Callable[[PoolPlan], Any]], ...] = (
    ("driver source", "/spec/driver/source", lambda pool: driver_of(pool).source),
    ("driver version", "/spec/driver/version", lambda pool: driver_of(pool).version),
    ("driver repository", "/spec/driver/repository", lambda pool: driver_of(pool).repository),
    (
        "kernel module type",
        "/spec/driver/kernelModuleType",
        lambda pool: driver_of(pool).kernel_module_type,
    ),
    ("RDMA setting", "/spec/driver/rdma", lambda pool: pool.profile.spec.driver.rdma),
    (
        "host MOFED setting",
        "/spec/driver/useHostMofed",
        lambda pool: pool.profile.spec.driver.use_host_mofed,
    ),
    ("GDS setting", "/spec/driver/gds", lambda pool: pool.profile.spec.driver.gds),
    ("GDRCopy setting", "/spec/driver/gdrcopy", lambda pool: pool.profile.spec.driver.gdrcopy),
    ("package repositories", "/spec/driver/repoConfig", lambda pool: pool.profile.spec.driver.repo_config),
    ("certificates", "/spec/driver/certConfig", lambda pool: pool.profile.spec.driver.cert_config),
    (
        "options of kernel modules",
        "/spec/driver/kernelModuleConfig",
        lambda pool: pool.profile.spec.driver.kernel_module_config,
    ),
    ("vGPU licence", "/spec/driver/vgpu", lambda pool: driver_of(pool).vgpu),
)
"""What one ClusterPolicy says for all pools: its name, the line of the profile, and the value."""


def choose_driver_mode(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Values of the ClusterPolicy's driver, and driver objects where the cluster asks for them."""
    managed = [pool for pool in plan.pools if pool.driver is not None and pool.driver.managed]
    plan = agree_on_folders(plan, facts)
    if not managed:
        return _no_driver(plan, facts)
    by_claims = plan.cluster.spec.stack.kind is StackKind.GPU_CLUSTER
    plan = with_singleton(
        plan,
        "driver mode",
        plan.driver_mode.value,
        managed,
        f"stack.{'kind' if by_claims else 'driverMode'}; changing it replaces every driver pod",
    )
    plan = agree_on_upgrades(plan, managed, facts)
    _note_unpinned(managed, facts)
    notes = (note for pool in managed for note in _notes(pool, plan.namespace) if note is not None)
    plan = replace(plan, notes=(*plan.notes, *notes), brought=brought_files(managed, facts))
    if plan.driver_mode is DriverMode.CLUSTER_POLICY:
        return _cluster_policy(plan, managed, facts)
    return driver_objects(plan, managed, facts)


def _notes(pool: PoolPlan, namespace: str) -> tuple[str | None, ...]:
    return licence_note(pool, namespace), files_note(pool, namespace), _network_note(pool)


def _no_driver(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    by_claims = plan.cluster.spec.stack.kind is StackKind.GPU_CLUSTER
    hosts = any(pool.profile.spec.workload is Workload.VM_VGPU for pool in plan.pools)
    if plan.driver_mode is DriverMode.NVIDIA_DRIVER and not hosts and not by_claims:
        facts.report_cluster(
            codes.DRIVER_CONTRADICTION,
            MODE,
            "driverMode is nvidia-driver, and no pool has a driver that the operator installs",
            help="remove `driverMode`",
        )
    origins = tuple(
        pool.driver.origin if pool.driver is not None else facts.at_pool(pool, "/spec/workload") for pool in plan.pools
    )
    because = "no pool has a driver that the operator installs"
    plan = map_pools(plan, lambda pool: _without_label(pool, DEPLOY_DRIVER))
    return with_values(plan, ValueSetting(("driver", "enabled"), False, Derived("driver_mode", because, origins)))


def _without_label(pool: PoolPlan, key: str) -> PoolPlan:
    """Without driver pods in the cluster, nothing has to be kept off the nodes."""
    return replace(pool, labels=tuple(label for label in pool.labels if label.key != key))


def _cluster_policy(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    if not _alike(managed, facts) or not one_system(plan, managed, facts) or not _kernels_have_names(managed, facts):
        return plan
    _demand_kernels(plan, managed, facts)
    chart = facts.need_chart()
    kept = [setting for setting in _policy_settings(managed[0], facts) if chart.default(setting.path) != setting.value]
    return with_values(plan, *kept)


def _policy_settings(first: PoolPlan, facts: Facts) -> list[ValueSetting]:
    """The ClusterPolicy's driver, by the lines of the first of pools that agree."""
    driver = driver_of(first)
    asked = first.profile.spec.driver
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
        origin = facts.at_pool(first, "/spec/driver/kernelModuleType")
        fields = module_fields(driver, driver.kernel_module_type, facts)
        settings.extend(ValueSetting(("driver", field), value, origin) for field, value in fields.items())
    settings.extend(ValueSetting(path, value, facts.at_pool(first, at)) for path, value, at in file_values(asked))
    if driver.vgpu is not None:
        origin = facts.at_pool(first, "/spec/driver/vgpu")
        licence = licensing_fields(driver.vgpu, "configMapName")
        settings.extend(
            ValueSetting(("driver", "licensingConfig", field), value, origin) for field, value in licence.items()
        )
    return settings


def _alike(managed: list[PoolPlan], facts: Facts) -> bool:
    """Whether all pools want the same driver; the first difference is reported, with both lines."""
    for what, pointer, value_of in _COMMON:
        value, first, other = agreed(managed, value_of)
        if other is not None:
            facts.report_pool(
                codes.DRIVER_DISAGREEMENT,
                other,
                pointer,
                f"pools `{first.name}` and `{other.name}` differ in their {what} ({_shown(value)}, "
                f"{_shown(value_of(other))}), and one ClusterPolicy describes the driver of all",
                help=_OBJECT_PER_POOL,
                related=((first, pointer, "the other pool"),),
            )
            return False
    return True


def one_system(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> bool:
    """The operator names the driver image after whichever GPU node it lists first, driver or not."""
    for pool in plan.pools:
        if len(tags := dict.fromkeys(system_tags(pool, facts))) > 1:
            facts.report_pool(
                codes.DRIVER_DISAGREEMENT,
                pool,
                "/spec/os/versions",
                f"nodes of `{pool.name}` run different systems ({', '.join(tags)}), and under one ClusterPolicy the "
                "driver image is named after whichever node the operator lists first",
                help=_OBJECT_PER_POOL,
            )
            return False
    (system, *_), first, other = agreed(plan.pools, lambda pool: system_tags(pool, facts)[:1])
    if other is None:
        return True
    bystander = first if first not in managed else other
    why = "" if bystander in managed else f"; it does not matter that `{bystander.name}` needs none of it"
    facts.report_pool(
        codes.DRIVER_DISAGREEMENT,
        other,
        "/spec/os",
        f"pools `{first.name}` ({system}) and `{other.name}` ({system_tags(other, facts)[0]}) run different systems, "
        f"and under one ClusterPolicy the driver image is named after whichever node the operator lists first{why}",
        help=_OBJECT_PER_POOL,
        related=((first, "/spec/os", "the other pool"),),
    )
    return False


def _kernels_have_names(managed: list[PoolPlan], facts: Facts) -> bool:
    """The operator makes a DaemonSet for each kernel, and leaves the processor out of its name."""
    architectures = behaviour_at(facts.need_release().tag)["architectures"]
    named: dict[str, tuple[PoolPlan, NodeSystem]] = {}
    precompiled = (item for item in managed if driver_of(item).precompiled)
    for pool, system in ((item, system) for item in precompiled for system in item.profile.spec.systems):
        if system.kernel is None:
            continue
        other, first = named.setdefault(name_of_kernel(system.kernel, architectures), (pool, system))
        if first.kernel != system.kernel:
            facts.report_pool(
                codes.DRIVER_DISAGREEMENT,
                pool,
                system.kernel_pointer,
                f"pools `{other.name}` and `{pool.name}` have one kernel on two processors, and under a "
                "ClusterPolicy both would get a DaemonSet of the same name",
                help=_OBJECT_PER_POOL,
                related=((other, first.kernel_pointer, "the other pool"),),
            )
            return False
    return True


def _demand_kernels(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> None:
    """For a precompiled driver the operator makes a DaemonSet for the kernel of every GPU node, driver or not."""
    if not driver_of(managed[0]).precompiled:
        return
    names = {pool.name for pool in managed}
    for pool in plan.pools:
        if pool.profile.spec.kernel.release is None and pool.name not in names:
            facts.report_pool(
                codes.KERNEL_MISSING,
                pool,
                "/spec/kernel",
                "under one ClusterPolicy the operator makes a precompiled driver's DaemonSet for the kernel of every "
                f"GPU node, of `{pool.name}` too, and the pool declares none",
                help="add `kernel: {release: ...}`, or write `stack: {driverMode: nvidia-driver}` in cluster.yaml",
            )


def _network_note(pool: PoolPlan) -> str | None:
    """nvidia-peermem loads after the network drivers, and nothing generated brings those."""
    asked = pool.profile.spec.driver
    if not asked.rdma:
        return None
    where = "on the hosts" if asked.use_host_mofed else "from the Network Operator, which must be installed before"
    return f"Pool {pool.name} loads nvidia-peermem, which waits for MLNX_OFED or DOCA-OFED: {where}."


def _note_unpinned(managed: list[PoolPlan], facts: Facts) -> None:
    compiled = (pool for pool in managed if not driver_of(pool).precompiled)
    unpinned = [pool for pool in compiled if pool.profile.spec.driver.version is None]
    if unpinned:
        version = driver_of(unpinned[0]).version
        facts.report_pool(
            DRIVER_VERSION_UNSTATED,
            unpinned[0],
            "/spec/driver/source",
            f"the driver of {listed(pool.name for pool in unpinned)} is {version} because the chart of "
            f"{facts.need_release().tag} says so; another release may have another one",
            help=f"write `version: {version}`, for example in a base",
        )


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)
