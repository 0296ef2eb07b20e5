"""Kernel modules and driver version against the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.driver import DRIVER_TOO_OLD
from poolsmith.fleet.profiles.driver import KernelModuleType
from poolsmith.gpu.drivers.gpu_support import begins_with, ended_with, mig_in_doubt
from poolsmith.gpu.drivers.kernel_modules import OPEN, PROPRIETARY, chooses_itself, wrong_modules

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan, PoolPlan
    from poolsmith.gpu.catalog.gpus import Architecture, GpuEntry

MODULES = "/spec/driver/kernelModuleType"
_VERSION = "/spec/driver/version"
_PRODUCT = "/spec/gpu/product"
_MIG_OFF = "all-disabled"


def check_modules(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """What a guest's driver is made of nobody can tell from its image's tag: only the kind of modules is judged."""
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    if architecture is not None:
        _check_kind(pool, driver, architecture, facts)
        _check_last_branch(pool, driver, architecture, facts)
    if driver.branch is not None:
        _check_first_version(pool, driver, facts)
        _check_partly_partitioned(pool, driver, facts)
        _check_auto(pool, driver, facts)


def _check_kind(pool: PoolPlan, driver: DriverPlan, architecture: Architecture, facts: Facts) -> None:
    chosen = driver.kernel_module_type
    product = pool.profile.spec.gpu.product
    needed = wrong_modules(
        architecture,
        chosen or "",
        driver.version if driver.branch is not None else None,
        release=facts.need_release().tag,
        images=facts.catalog.driver_images,
    )
    if needed == OPEN and driver.managed:
        facts.report_pool(
            codes.KERNEL_MODULE_TYPE,
            pool,
            MODULES if chosen else _PRODUCT,
            f"{product} ({architecture.name}) needs the open kernel modules",
            help="write `driver: {kernelModuleType: open}`",
        )
    if needed == PROPRIETARY:
        facts.report_pool(
            codes.KERNEL_MODULE_TYPE,
            pool,
            MODULES,
            f"{product} ({architecture.name}) has no open kernel modules",
            help="write `kernelModuleType: proprietary`, or leave it out",
        )


def _check_auto(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    version = driver.version or ""
    if (
        driver.managed
        and driver.kernel_module_type is KernelModuleType.AUTO
        and not chooses_itself(version, facts.catalog.driver_images)
    ):
        facts.report_pool(
            codes.KERNEL_MODULE_TYPE,
            pool,
            MODULES,
            f"the container of driver {version} does not know `auto`, and loads the proprietary modules",
            help="write `kernelModuleType: open` or `proprietary`",
            severity=Severity.WARNING,
        )


def _check_last_branch(pool: PoolPlan, driver: DriverPlan, architecture: Architecture, facts: Facts) -> None:
    last = ended_with(architecture, driver.branch)
    if last is None:
        return
    facts.report_pool(
        codes.DRIVER_BRANCH_ENDED,
        pool,
        _place(pool),
        f"driver {driver.version} no longer supports {pool.profile.spec.gpu.product} ({architecture.name}); "
        f"the last branch is {last}",
        help=f"write a `driver.version` of branch {last} or older",
    )


def _note_doubt(pool: PoolPlan, entry: GpuEntry, version: str, branch: int | None, facts: Facts) -> None:
    if (because := mig_in_doubt(entry, version, branch)) is not None:
        facts.report_pool(
            DRIVER_TOO_OLD,
            pool,
            _place(pool),
            f"whether driver {version} has MIG on {entry.product} is unknown: {because}",
            help="use a later driver",
            severity=Severity.WARNING,
        )


def _check_first_version(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    spec = pool.profile.spec
    entry = facts.catalog.gpus.find(spec.gpu.product)
    if entry is None or driver.version is None:
        return
    partitioned = spec.gpu.mig is not None and spec.gpu.mig.layout != _MIG_OFF
    needs = (
        (entry.first_driver, entry.product),
        (entry.first_mig_driver if partitioned else None, f"MIG on {entry.product}"),
    )
    if partitioned and begins_with(entry.first_mig_driver, driver.version, driver.branch) is None:
        _note_doubt(pool, entry, driver.version, driver.branch, facts)
    for first, what in needs:
        if begins_with(first, driver.version, driver.branch) is not None:
            facts.report_pool(
                DRIVER_TOO_OLD,
                pool,
                _place(pool),
                f"{what} needs driver {first} or later, and the pool has {driver.version}",
                help=f"write a `driver.version` from {first} on",
            )
            return


def _check_partly_partitioned(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """MIG devices and whole GPUs on one node."""
    images, gpu = facts.catalog.driver_images, pool.profile.spec.gpu
    if driver.version not in images.partly_partitioned or gpu.mig is None or not gpu.mig.devices:
        return
    on = [group for group in gpu.mig.devices if group.mig_enabled]
    if any(group.devices == "all" for group in on):
        return
    partitioned = {index for group in on if isinstance(group.devices, list) for index in group.devices}
    if partitioned and len(partitioned) < gpu.count:
        facts.report_pool(
            DRIVER_TOO_OLD,
            pool,
            _place(pool),
            f"with driver {driver.version} pods stay pending on nodes that have MIG devices beside whole GPUs",
            help=f"write a `driver.version` from {images.partly_partitioned_instead} on, or partition all GPUs",
            severity=Severity.WARNING,
        )


def _place(pool: PoolPlan) -> str:
    return _VERSION if pool.profile.spec.driver.version else _PRODUCT
