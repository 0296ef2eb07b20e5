"""Pass: one driver source per pool. Floor: resolve."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.model.driver import DriverSource, KernelModuleType
from poolsmith.model.node_pool import Workload
from poolsmith.model.origin import Derived, FromCatalog, Origin
from poolsmith.model.plan import ClusterPlan, DriverPlan, LabelSetting, PoolPlan
from poolsmith.resolve.facts import map_pools

if TYPE_CHECKING:
    from poolsmith.resolve.facts import Facts

SOURCE = "/spec/driver/source"
VERSION = "/spec/driver/version"
_FULL_VERSION = re.compile(r"\d{3}\.\d+(\.\d+)?\Z")
_BRANCH = re.compile(r"\d{3}\Z")
_FIRST_AUTO_BRANCH = 570  # driver containers of older branches do not support kernelModuleType auto


def choose_drivers(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Decide per pool who supplies the driver; sandboxed pools have none on the host."""
    return map_pools(plan, lambda pool: _choose(pool, facts))


def _choose(pool: PoolPlan, facts: Facts) -> PoolPlan:
    spec = pool.profile.spec
    if spec.workload is not Workload.CONTAINER:
        if spec.driver.source is not None:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                SOURCE,
                f"a pool of workload `{spec.workload}` has no NVIDIA driver on the host: its GPUs belong to the guests",
                help="remove `driver.source`",
            )
        return pool
    source, origin = _source(pool, facts)
    if source is None:
        return pool
    if spec.driver.vgpu is not None:
        facts.report_pool(
            codes.NOT_GENERATED_YET,
            pool,
            "/spec/driver/vgpu",
            "vGPU guest drivers are not generated yet",
            help="remove `driver.vgpu`, or pre-install the guest driver: `driver: {source: preinstalled}`",
        )
    driver = _driver_plan(pool, source, origin, facts)
    _check_features(pool, driver, facts)
    _check_modules(pool, driver, facts)
    labels = pool.labels
    if source is DriverSource.PREINSTALLED:
        contract = facts.catalog.releases.labels
        because = Derived("drivers", "the operator leaves nodes with this label without a driver pod", (origin,))
        labels = (*labels, LabelSetting(contract.deploy_driver, "pre-installed", "provisioner", because))
    return replace(pool, driver=driver, labels=labels)


def os_tag(pool: PoolPlan, facts: Facts) -> str:
    """The operating system's part of the driver image's tag, for any pool."""
    os = pool.profile.spec.os
    return os.image_tag or facts.need_release().os_tag(os.id, os.version)


def _source(pool: PoolPlan, facts: Facts) -> tuple[DriverSource | None, Origin]:
    spec = pool.profile.spec
    entry = facts.catalog.operating_systems.get(spec.os.id)
    given = spec.driver.source
    origin = facts.at_pool(pool, SOURCE)
    if entry is not None and entry.driver == "os":
        if given in (DriverSource.CONTAINER, DriverSource.PRECOMPILED):
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                SOURCE,
                f"{spec.os.id} carries its driver itself, and no driver container exists for it",
                help="write `driver: {source: preinstalled}`, or leave it out",
            )
            return None, origin
        carried = Derived("drivers", f"{spec.os.id} carries its driver itself", (facts.at_pool(pool, "/spec/os/id"),))
        return DriverSource.PREINSTALLED, origin if given else carried
    if given is None:
        facts.report_pool(
            codes.DRIVER_SOURCE_MISSING,
            pool,
            "/spec/driver",
            f"pool `{pool.name}` does not say where its driver comes from",
            help="write `driver: {source: container}`, `precompiled` or `preinstalled`",
        )
    return given, origin


def _driver_plan(pool: PoolPlan, source: DriverSource, origin: Origin, facts: Facts) -> DriverPlan:
    spec = pool.profile.spec
    driver = spec.driver
    chart = facts.need_chart()
    version, version_origin = driver.version, facts.at_pool(pool, VERSION)
    if version is None and source is DriverSource.CONTAINER:
        version = str(chart.default(("driver", "version")))
        version_origin = FromCatalog(f"charts/gpu-operator/{chart.release} driver.version", chart.source)
    _check_version(pool, source, version, facts)
    if source is DriverSource.PRECOMPILED and spec.kernel.release is None:
        facts.report_pool(
            codes.KERNEL_MISSING,
            pool,
            SOURCE,
            "a precompiled driver's image is named by the kernel, and the pool declares none",
            help="add `kernel: {release: ...}`, the output of `uname -r`",
        )
    return DriverPlan(
        source=source.value,
        version=version,
        repository=driver.repository or str(chart.default(("driver", "repository"))),
        image=str(chart.default(("driver", "image"))),
        os_tag=os_tag(pool, facts),
        kernel_module_type=driver.kernel_module_type,
        upgrade_policy=driver.upgrade_policy,
        install_dir=driver.install_dir,
        origin=origin,
        version_origin=version_origin,
    )


def _check_version(pool: PoolPlan, source: DriverSource, version: str | None, facts: Facts) -> None:
    if source is DriverSource.PRECOMPILED:
        if version is None or not _BRANCH.match(version):
            said = f"`{version}` is a full version" if version else "none is given"
            facts.report_pool(
                codes.DRIVER_VERSION_FORM,
                pool,
                VERSION if version else SOURCE,
                f"a precompiled driver takes the branch as driver.version; {said}",
                help=f'write `version: "{version[:3] if version else "535"}"`',
            )
    elif source is DriverSource.CONTAINER and version is not None and not _FULL_VERSION.match(version):
        facts.report_pool(
            codes.DRIVER_VERSION_FORM,
            pool,
            VERSION,
            f"a driver container takes the full version; `{version}` is a branch",
            help="write a full version like 550.90.07, or `source: precompiled`",
        )


def _check_features(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    asked = pool.profile.spec.driver
    for name, wanted in (("gds", asked.gds), ("gdrcopy", asked.gdrcopy)):
        if wanted and driver.precompiled:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                f"/spec/driver/{name}",
                f"`driver.{name}` is refused by the operator beside a precompiled driver",
                help="use `source: container`, or leave the feature out",
            )
        elif wanted and not driver.managed:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                f"/spec/driver/{name}",
                f"`driver.{name}` runs beside the operator's driver container, and this pool's driver is pre-installed",
                help="use `source: container`, or leave the feature out",
            )
    release = facts.need_release()
    if driver.precompiled and pool.profile.spec.arch not in release.precompiled_arch:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            "/spec/arch",
            f"precompiled drivers exist for {', '.join(release.precompiled_arch)} only with {release.tag}",
            help="write `driver: {source: container}`",
        )
    if pool.profile.spec.secure_boot and driver.source == DriverSource.CONTAINER:
        facts.report_pool(
            codes.SECURE_BOOT,
            pool,
            "/spec/secureBoot",
            "the driver is compiled on nodes with Secure Boot, whose kernel takes signed modules only",
        )
    if asked.gds and asked.kernel_module_type is not KernelModuleType.OPEN:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            "/spec/driver/gds",
            "GPUDirect Storage needs the open kernel modules, and `auto` does not count",
            help="add `kernelModuleType: open`",
        )
    if asked.install_dir is not None and driver.managed:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            "/spec/driver/installDir",
            "`driver.installDir` is where a pre-installed driver lies; this pool's driver comes in a container",
            help="remove it, or write `source: preinstalled`",
        )


def _check_modules(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Kernel modules and driver branch against the GPU's architecture."""
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    if architecture is None:
        return
    chosen = driver.kernel_module_type
    pointer = "/spec/driver/kernelModuleType"
    open_by_default = facts.need_release().driver_object.module_field == "kernelModuleType"
    product = pool.profile.spec.gpu.product
    if driver.managed and architecture.open == "required":
        old_branch = driver.branch is not None and driver.branch < _FIRST_AUTO_BRANCH
        if chosen is KernelModuleType.PROPRIETARY or (
            chosen is not KernelModuleType.OPEN and (not open_by_default or old_branch)
        ):
            facts.report_pool(
                codes.KERNEL_MODULE_TYPE,
                pool,
                pointer if chosen else "/spec/gpu/product",
                f"{product} ({architecture.name}) needs the open kernel modules",
                help="write `driver: {kernelModuleType: open}`",
            )
    if architecture.open == "unsupported" and chosen is KernelModuleType.OPEN:
        facts.report_pool(
            codes.KERNEL_MODULE_TYPE,
            pool,
            pointer,
            f"{product} ({architecture.name}) has no open kernel modules",
            help="write `kernelModuleType: proprietary`, or leave it out",
        )
    if architecture.last_branch is not None and driver.branch is not None and driver.branch > architecture.last_branch:
        facts.report_pool(
            codes.DRIVER_BRANCH_ENDED,
            pool,
            VERSION if pool.profile.spec.driver.version else "/spec/gpu/product",
            f"driver {driver.version} no longer supports {product} ({architecture.name}); "
            f"the last branch is {architecture.last_branch}",
            help=f"write a `driver.version` of branch {architecture.last_branch} or older",
        )
