"""Passes that check a pool's driver: its version, its kernel modules and what runs beside it, against host and GPUs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.node_software import DRIVER_TOO_OLD
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import is_older, version_key
from poolsmith.fleet.plan.driver.listed_images import source_advice
from poolsmith.fleet.profiles.acknowledged_facts import CDMM_OFF
from poolsmith.fleet.profiles.driver import DriverSource, KernelModuleType
from poolsmith.gpu.drivers.driver_image import has_precompiled
from poolsmith.gpu.drivers.driver_support import (
    BESIDE_COMPILED,
    OPEN,
    PROPRIETARY,
    begins_with,
    chooses_itself,
    ended_with,
    has_open,
    is_coherent,
    loads_open,
    mig_in_doubt,
    wrong_modules,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan, PoolPlan
    from poolsmith.gpu.catalog.gpus import Architecture, GpuEntry


_GDS = "/spec/driver/gds"
_DMA_BUF, _DMA_BUF_KERNEL = "/spec/driver/dmaBuf", "5.12"
_MIG_OFF = "all-disabled"


def check_features(pool: PoolPlan, driver: DriverPlan, facts: Facts, *, by_object: bool) -> None:
    """Refuse what the operator refuses, or what can't load. `by_object`: an NVIDIADriver describes the driver."""
    _check_modules_beside(pool, driver, facts)
    _check_storage(pool, driver, facts, by_object=by_object)
    if pool.profile.spec.driver.rdma:
        _note_system(pool, "/spec/driver/rdma", "GPUDirect RDMA", facts.catalog.driver_images.rdma_systems, facts)
    _check_dma_buf(pool, driver, facts)
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


def _check_storage(pool: PoolPlan, driver: DriverPlan, facts: Facts, *, by_object: bool) -> None:
    """GPUDirect Storage: open modules, no Secure Boot, and the systems that the documentation names."""
    spec = pool.profile.spec
    if not spec.driver.gds:
        return
    _check_storage_modules(pool, driver, facts, by_object=by_object)
    if spec.secure_boot:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            _GDS,
            "GPUDirect Storage does not work with Secure Boot",
            help="leave the feature out, or switch Secure Boot off on these nodes",
        )
    _note_system(pool, _GDS, "GPUDirect Storage", facts.catalog.driver_images.gds_systems, facts)


def _check_storage_modules(pool: PoolPlan, driver: DriverPlan, facts: Facts, *, by_object: bool) -> None:
    """An NVIDIADriver has to say `open`; under a ClusterPolicy a container that chooses itself is enough.

    Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go; platform-support.rst, GPUDirect Storage.
    """
    chosen = driver.kernel_module_type or ""
    if chosen == KernelModuleType.OPEN:
        return
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    version = driver.version if driver.branch is not None else None
    images, release = facts.catalog.driver_images, facts.need_release().tag
    if not by_object and has_open(architecture) and loads_open(chosen, version, release, images):
        return
    why = ", and an NVIDIADriver has to say so: `auto` does not count" if by_object else ""
    facts.report_pool(
        codes.DRIVER_CONTRADICTION,
        pool,
        _GDS,
        f"GPUDirect Storage needs the open kernel modules{why}",
        help="add `kernelModuleType: open`"
        if has_open(architecture)
        else "leave the feature out: this GPU has no open modules",
    )


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


def _check_dma_buf(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Source: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-rdma.rst, prerequisites."""
    spec = pool.profile.spec
    if not spec.driver.dma_buf:
        return
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    version = driver.version if driver.branch is not None else None
    chosen = driver.kernel_module_type or ""
    images, release = facts.catalog.driver_images, facts.need_release().tag
    open_exists = has_open(architecture)
    if not open_exists or (driver.managed and not loads_open(chosen, version, release, images)):
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            _DMA_BUF,
            "DMA-BUF needs the open kernel modules",
            help="add `kernelModuleType: open`" if open_exists else "leave it out: this GPU has no open modules",
        )
    for system in spec.systems:
        if system.kernel is not None and is_older(system.kernel, _DMA_BUF_KERNEL):
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                system.kernel_pointer,
                f"DMA-BUF needs a kernel from {_DMA_BUF_KERNEL} on, and the pool has {system.kernel}",
                help="write `rdma: true` in place of `dmaBuf`, with the drivers of Mellanox on the hosts",
            )


def check_host_services(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """What runs on the hosts beside a driver of theirs, and has to be of its version."""
    asked = pool.profile.spec.driver
    if driver.managed or driver.version is None:
        return
    told = version_key(driver.version)
    for field, given, count in (("fabricManager", asked.fabric_manager, 3), ("imex", asked.imex, 1)):
        key = version_key(given.partition("-")[0])[:count] if given is not None else ()
        if given is not None and key[: len(told)] != told[: len(key)]:
            what = "its version" if count > 1 else "its branch"
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                f"/spec/driver/{field}",
                f"nvidia-{field.lower()} {given} runs with a driver of {what} only, and these nodes have "
                f"{driver.version}",
                help=f"install nvidia-{field.lower()} of the driver's version on the nodes",
            )


def _check_coherent_memory(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Drivers that manage the memory of Grace hosts as one exclude MIG and GPUDirect Storage."""
    spec = pool.profile.spec
    entry = facts.catalog.gpus.find(spec.gpu.product)
    images = facts.catalog.driver_images
    if entry is None or not driver.managed or driver.version is None or driver.vgpu is not None:
        return
    if not is_coherent(entry, driver.version, images) or any(item.fact == CDMM_OFF for item in spec.acknowledge):
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
                help="leave the feature out, or turn CDMM off with an option of the kernel module, and write "
                f"`acknowledge: [{{fact: {CDMM_OFF}}}]`",
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


MODULES = "/spec/driver/kernelModuleType"
_VERSION = "/spec/driver/version"
_PRODUCT = "/spec/gpu/product"


def check_modules(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """What a guest's driver is made of nobody can tell from its image's tag: only the kind of modules is judged."""
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    if architecture is not None:
        _check_kind(pool, driver, architecture, facts)
    check_gpu_support(pool, driver, facts)
    check_host_services(pool, driver, facts)
    if driver.branch is not None:
        _check_partly_partitioned(pool, driver, facts)
        _check_auto(pool, driver, facts)


def check_gpu_support(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Whether a driver is one of those that serve the pool's GPUs, whoever installs it."""
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    if architecture is not None:
        _check_last_branch(pool, driver, architecture, facts)
    if driver.branch is not None:
        _check_first_version(pool, driver, architecture, facts)


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


def _check_first_version(pool: PoolPlan, driver: DriverPlan, architecture: Architecture | None, facts: Facts) -> None:
    spec = pool.profile.spec
    entry = facts.catalog.gpus.find(spec.gpu.product)
    if driver.version is None:
        return
    partitioned = entry is not None and spec.gpu.mig is not None and spec.gpu.mig.layout != _MIG_OFF
    needs = tuple(_needs(spec.gpu.product, entry, architecture, partitioned=partitioned))
    if entry is not None and partitioned and begins_with(entry.first_mig_driver, driver.version, driver.branch) is None:
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


def _needs(
    product: str, entry: GpuEntry | None, architecture: Architecture | None, *, partitioned: bool
) -> Iterator[tuple[str | None, str]]:
    """First drivers, and for what; of a product that the catalog does not know, its declared architecture's."""
    if entry is not None:
        yield entry.first_driver, entry.product
        if partitioned:
            yield entry.first_mig_driver, f"MIG on {entry.product}"
    elif architecture is not None:
        yield architecture.first_branch, f"{product} ({architecture.name})"


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
