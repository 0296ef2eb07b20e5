"""What runs beside a driver, against its source, its host and its GPUs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.plan.source_advice import source_advice
from poolsmith.fleet.profiles.driver import DriverSource, KernelModuleType
from poolsmith.gpu.drivers.features import BESIDE_COMPILED
from poolsmith.gpu.drivers.gpu_support import is_coherent
from poolsmith.gpu.drivers.published_images import has_precompiled

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan, PoolPlan

_GDS = "/spec/driver/gds"
_MIG_OFF = "all-disabled"


def check_features(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Refuse what the operator refuses, or what can't load."""
    _check_modules_beside(pool, driver, facts)
    _check_storage(pool, facts)
    if pool.profile.spec.driver.rdma:
        _note_system(pool, "/spec/driver/rdma", "GPUDirect RDMA", facts.catalog.driver_images.rdma_systems, facts)
    _check_coherent_memory(pool, driver, facts)
    _check_processor(pool, driver, facts)
    if pool.profile.spec.secure_boot and driver.source == DriverSource.CONTAINER:
        facts.report_pool(
            codes.SECURE_BOOT,
            pool,
            "/spec/secureBoot",
            "the driver is compiled on nodes with Secure Boot, whose kernel accepts only signed modules",
        )
    if pool.profile.spec.driver.install_dir is not None and driver.managed:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            "/spec/driver/installDir",
            "`driver.installDir` is the folder of a pre-installed driver; this pool's driver comes in a container",
            help="remove it, or write `source: preinstalled`",
        )


def _check_modules_beside(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    asked = pool.profile.spec.driver
    for name in BESIDE_COMPILED:
        wanted = getattr(asked, name)
        if wanted and driver.precompiled:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                f"/spec/driver/{name}",
                f"`driver.{name}` can't be combined with a precompiled driver: the operator refuses it",
                help=source_advice(pool, facts, "leave the feature out"),
            )
        elif wanted and not driver.managed:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                f"/spec/driver/{name}",
                f"`driver.{name}` runs beside the operator's driver container, and this pool's driver is pre-installed",
                help=source_advice(pool, facts, "leave the feature out"),
            )


def _check_storage(pool: PoolPlan, facts: Facts) -> None:
    """GPUDirect Storage: open modules, no Secure Boot, and the systems that the documentation names."""
    spec = pool.profile.spec
    if not spec.driver.gds:
        return
    if spec.driver.kernel_module_type is not KernelModuleType.OPEN:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            _GDS,
            "GPUDirect Storage needs the open kernel modules, and `auto` does not count",
            help="add `kernelModuleType: open`",
        )
    if spec.secure_boot:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            _GDS,
            "GPUDirect Storage does not work with Secure Boot",
            help="leave the feature out, or switch Secure Boot off on these nodes",
        )
    _note_system(pool, _GDS, "GPUDirect Storage", facts.catalog.driver_images.gds_systems, facts)


def _note_system(pool: PoolPlan, pointer: str, what: str, systems: dict[str, tuple[str, ...]], facts: Facts) -> None:
    """Where the documentation of the release's line names some systems, and this one is not among them."""
    line, spec = facts.need_release().line, pool.profile.spec
    named = systems.get(line)
    versions = {system.version for system in spec.systems}
    known = set(named or ())
    if named is not None and any(
        known.isdisjoint((f"{spec.os.id}{version}", f"{spec.os.id}{version.partition('.')[0]}")) for version in versions
    ):
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            pool,
            pointer,
            f"the documentation of {line} names {what} for {listed(named)} only",
            help="nothing to do, if it works for you",
        )


def _check_coherent_memory(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Drivers that manage the memory of Grace hosts as one exclude MIG and GPUDirect Storage."""
    spec = pool.profile.spec
    entry = facts.catalog.gpus.find(spec.gpu.product)
    images = facts.catalog.driver_images
    if entry is None or not driver.managed or driver.version is None or driver.vgpu is not None:
        return
    if not is_coherent(entry, driver.version, images):
        return
    partitioned = spec.gpu.mig is not None and spec.gpu.mig.layout != _MIG_OFF
    for pointer, wanted, what in (
        (_GDS, spec.driver.gds, "GPUDirect Storage"),
        ("/spec/gpu/mig", partitioned, "MIG"),
    ):
        if wanted:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                pointer,
                f"from {images.coherent_since} on the driver turns on coherent memory management (CDMM) on Grace "
                f"hosts, and {what} does not go with it",
                help="leave the feature out, or turn CDMM off with an option of the kernel module",
                severity=Severity.WARNING,
            )


def _check_processor(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """NVIDIA's precompiled images; who has images of one's own knows for which processor."""
    release, spec = facts.need_release(), pool.profile.spec
    if driver.precompiled and spec.driver.repository is None and not has_precompiled(release, spec.arch):
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            "/spec/arch",
            f"precompiled drivers exist for {', '.join(release.precompiled_arch)} only with {release.tag}",
            help=source_advice(pool, facts, "name your own images in `driver.repository`"),
        )
    endings = ((".x86_64", "amd64"), (".aarch64", "arm64"))
    for system, (ending, arch) in product(spec.systems, endings):
        kernel = system.kernel or ""
        if ending in kernel and spec.arch != arch:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                system.kernel_pointer,
                f"the kernel `{kernel}` is one for {arch}, and the pool's nodes are {spec.arch}",
                help=f"write `arch: {arch}`, or the kernel of these nodes",
            )
