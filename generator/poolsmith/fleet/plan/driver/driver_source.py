"""Pass: one driver source per pool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.codes.node_software import DRIVER_FOLDER, DRIVER_TOO_OLD
from poolsmith.core.diagnostics.codes.support import IMPOSSIBLE_KERNEL
from poolsmith.core.diagnostics.rule_info import Severity
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.core.record import replace
from poolsmith.fleet.plan.driver.driver_compatibility import check_features, check_modules
from poolsmith.fleet.plan.driver.driver_files import check_files
from poolsmith.fleet.plan.driver.listed_images import check_listed, fitting_sources
from poolsmith.fleet.plan.driver.vgpu_guests import check_guest
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.origin import Derived, FromCatalog, Origin
from poolsmith.fleet.plan.plan import ClusterPlan, DriverPlan, LabelSetting, PoolPlan
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import DEPLOY_DEVICE_PLUGIN, DEPLOY_DRIVER
from poolsmith.gpu.drivers.driver_image import branch_of, is_branch, is_full, is_version, os_tag
from poolsmith.gpu.drivers.driver_support import DECLARED, UNKNOWN, carries_driver, driver_folder

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.gpu.catalog.platforms import Kernels, OperatingSystemEntry


SOURCE = "/spec/driver/source"
VERSION = "/spec/driver/version"
INSTALL_DIR = "/spec/driver/installDir"
MANAGED = (DriverSource.CONTAINER, DriverSource.PRECOMPILED)


def choose_drivers(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Decide per pool who supplies the driver; sandboxed pools have none on the host."""
    by_object = plan.driver_mode is DriverMode.NVIDIA_DRIVER
    return map_pools(plan, lambda pool: _choose(pool, facts, by_object=by_object))


def _choose(pool: PoolPlan, facts: Facts, *, by_object: bool) -> PoolPlan:
    if pool.profile.spec.workload is not Workload.CONTAINER:
        _refuse_driver(pool, facts)
        return pool
    source, origin = _source(pool, facts)
    if source is None:
        return pool
    check_guest(pool, source, facts)
    driver = _driver_plan(pool, source, origin, facts)
    check_features(pool, driver, facts, by_object=by_object)
    check_modules(pool, driver, facts)
    check_files(pool, driver, facts)
    if not any(item.code == IMPOSSIBLE_KERNEL.code for item in facts.found):
        check_listed(pool, driver, facts)
    return replace(pool, driver=driver, labels=(*pool.labels, *_opt_outs(pool, source, origin, facts)))


def system_tags(pool: PoolPlan, facts: Facts) -> tuple[str, ...]:
    """The system's part of the driver image's tag, for each system of any pool; a declared one is the same."""
    spec = pool.profile.spec
    return tuple(os_tag(spec.os.id, system.version, facts.need_release().tag) for system in spec.systems)


def check_stated_version(pool: PoolPlan, facts: Facts) -> None:
    """The version of a driver that is on the host already."""
    version = pool.profile.spec.driver.version
    if version is not None and not is_version(version):
        facts.report_pool(
            codes.DRIVER_VERSION_FORM,
            pool,
            VERSION,
            f"`{version}` is no version of a driver",
            help="write a version like 550.90.07, or a branch like 550",
        )
        return
    least = str(facts.catalog.device_plugin["devicePlugin"]["minimum"]["driver"])
    if version is not None and is_older(version, least):
        facts.report_pool(
            DRIVER_TOO_OLD,
            pool,
            VERSION,
            f"the device plugin needs driver {least} or later, and the pool has {version}",
            help=f"install driver {least} or later on the nodes",
        )


def _refuse_driver(pool: PoolPlan, facts: Facts) -> None:
    spec = pool.profile.spec
    hosts_vgpus = spec.workload is Workload.VM_VGPU
    manager = spec.driver.vgpu_manager if hosts_vgpus else None
    modules = spec.driver.kernel_module_config if hosts_vgpus else None
    if spec.driver.source is not None:
        facts.report_pool(
            codes.DRIVER_CONTRADICTION,
            pool,
            SOURCE,
            f"a pool of workload `{spec.workload}` has no NVIDIA driver on the host: its GPUs belong to the guests",
            help="remove `driver.source`",
        )
    elif spec.driver != type(spec.driver)(vgpu_manager=manager, kernel_module_config=modules):
        facts.report_pool(
            codes.FIELD_WITHOUT_EFFECT,
            pool,
            "/spec/driver",
            f"`driver` has no effect on a pool of workload `{spec.workload}`"
            + (
                ", but for `vgpuManager` and `kernelModuleConfig`" if hosts_vgpus else ": its GPUs belong to the guests"
            ),
            help="remove it",
        )


def _source(pool: PoolPlan, facts: Facts) -> tuple[DriverSource | None, Origin]:
    spec = pool.profile.spec
    entry = facts.catalog.operating_systems.get(spec.os.id)
    given = spec.driver.source
    origin = facts.at_pool(pool, SOURCE)
    if carries_driver(entry):
        if given in MANAGED:
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                SOURCE,
                f"{spec.os.id} contains its driver, and no driver container exists for it",
                help="write `driver: {source: preinstalled}`, or leave it out",
            )
            return None, origin
        carried = Derived("drivers", f"{spec.os.id} contains its driver", (facts.at_pool(pool, "/spec/os/id"),))
        return DriverSource.PREINSTALLED, origin if given else carried
    if given is None:
        facts.report_pool(
            codes.DRIVER_SOURCE_MISSING,
            pool,
            "/spec/driver",
            f"pool `{pool.name}` does not say where its driver comes from{_some_images_carry_it(entry)}",
            help=_choice(fitting_sources(pool, facts)),
        )
    return given, origin


def _choice(sources: tuple[DriverSource, ...]) -> str:
    if not sources:
        return "write `driver: {source: ...}`; what the pool asks for beside it excludes every source"
    first, *others = sources
    *more, last = (f"`{source}`" for source in others) if others else ("",)
    rest = f", {', '.join(more)} or {last}" if more else f" or {last}" if last else ""
    return f"write `driver: {{source: {first}}}`{rest}"


def _some_images_carry_it(entry: OperatingSystemEntry | None) -> str:
    return f": some images of {entry.id} contain one" if entry is not None and entry.driver == "variant" else ""


def _driver_plan(pool: PoolPlan, source: DriverSource, origin: Origin, facts: Facts) -> DriverPlan:
    spec = pool.profile.spec
    driver = spec.driver
    chart = facts.need_chart()
    version, version_origin = driver.version, facts.at_pool(pool, VERSION)
    if version is None and source is DriverSource.CONTAINER:
        version = str(chart.default(("driver", "version")))
        version_origin = FromCatalog(f"charts/gpu-operator/{chart.release} driver.version", chart.source)
    _check_version(pool, source, version, facts)
    _check_kernel(pool, source, facts)
    return DriverPlan(
        source=source.value,
        version=version,
        repository=driver.repository or str(chart.default(("driver", "repository"))),
        image=str(chart.default(("driver", "image"))),
        os_tags=system_tags(pool, facts),
        kernel_module_type=driver.kernel_module_type,
        upgrade_policy=driver.upgrade_policy,
        install_dir=_install_dir(pool, source, facts),
        origin=origin,
        version_origin=version_origin,
        vgpu=driver.vgpu if source is DriverSource.CONTAINER else None,
    )


def _check_version(pool: PoolPlan, source: DriverSource, version: str | None, facts: Facts) -> None:
    if source is DriverSource.PREINSTALLED:
        check_stated_version(pool, facts)
    elif source is DriverSource.PRECOMPILED:
        if version is None or not is_branch(version):
            said = f"`{version}` is none" if version else "none is given"
            branch = branch_of(version) if version and is_full(version) else _branch_in(version)
            facts.report_pool(
                codes.DRIVER_VERSION_FORM,
                pool,
                VERSION if version else SOURCE,
                f"a precompiled driver needs the branch as driver.version; {said}",
                help=f'write `version: "{branch}"`',
            )
    elif version is not None and pool.profile.spec.driver.vgpu is None and not is_full(version):
        facts.report_pool(
            codes.DRIVER_VERSION_FORM,
            pool,
            VERSION,
            f"a driver container needs the full version; `{version}` is "
            + ("a branch" if version.isdecimal() else "none"),
            help=f"write `version: {known[0]}`"
            if (known := _FULL.match(version))
            else "write a full version like 550.90.07, or `source: precompiled`",
        )


_FULL = pattern(r"\d{3}\.\d+(\.\d+)?")
_BRANCH = pattern(r"\d{3}(?!\d)")


def _branch_in(version: str | None) -> str:
    found = _BRANCH.match(version or "")
    return found[0] if found else "535"


def _check_kernel(pool: PoolPlan, source: DriverSource, facts: Facts) -> None:
    """Of a precompiled driver the kernel is a part of the image's name: what no node prints is in no tag."""
    spec = pool.profile.spec
    entry = facts.catalog.operating_systems.get(spec.os.id)
    if source is DriverSource.PRECOMPILED and spec.driver.repository is None and entry is not None and entry.kernels:
        for system in spec.systems:
            if system.kernel is not None and re.fullmatch(entry.kernels.form, system.kernel) is None:
                facts.report_pool(
                    IMPOSSIBLE_KERNEL,
                    pool,
                    system.kernel_pointer,
                    f"`uname -r` on {spec.os.id} never prints `{system.kernel}`",
                    help=_other_kernel(system.kernel, entry.kernels),
                )
    if source is DriverSource.PRECOMPILED and pool.profile.spec.kernel.release is None:
        facts.report_pool(
            codes.KERNEL_MISSING,
            pool,
            SOURCE,
            "a precompiled driver's image is named by the kernel, and the pool declares none",
            help="add `kernel: {release: ...}`, the output of `uname -r`",
        )


def _other_kernel(kernel: str, kernels: Kernels) -> str:
    found = re.search(kernels.form, kernel)
    flavour = f"{kernel}-generic"
    meant = found[0] if found else flavour if re.fullmatch(kernels.form, flavour) else None
    return f"write `{meant}`" if meant is not None else f"write what it prints, such as `{kernels.like}`"


def _install_dir(pool: PoolPlan, source: DriverSource, facts: Facts) -> str | None:
    """Where a driver lies that the system carries: as declared, or as the catalog knows it."""
    spec = pool.profile.spec
    given = spec.driver.install_dir
    entry = facts.catalog.operating_systems.get(spec.os.id)
    if source is not DriverSource.PREINSTALLED:
        return given
    known, *others = dict.fromkeys(driver_folder(entry, system.version) for system in spec.systems)
    if others:
        facts.report_pool(
            DRIVER_FOLDER,
            pool,
            "/spec/os/versions",
            f"the versions of {spec.os.id} have their driver in different folders, and a pool has one",
            help="make a pool of its own for each version",
        )
        return given
    if known is None:
        return given or _installers_folder(entry, facts)
    if known not in (DECLARED, UNKNOWN):
        if given not in (None, known):
            facts.report_pool(
                DRIVER_FOLDER,
                pool,
                INSTALL_DIR,
                f"{spec.os.id} {spec.os.version} has its driver in `{known}`, not in `{given}`",
                help="remove `installDir`: it follows from the operating system",
            )
        return known
    if given is None:
        facts.report_pool(
            DRIVER_FOLDER,
            pool,
            SOURCE if spec.driver.source else "/spec/os/id",
            f"where {spec.os.id} {spec.os.version} has its driver "
            + ("depends on its version and flavour" if known == DECLARED else "is unknown")
            + "; the operator looks in the root file system",
            help="declare it: `driver: {source: preinstalled, installDir: ...}`",
            severity=Severity.ERROR if known == DECLARED else Severity.WARNING,
        )
    return given


def _installers_folder(entry: OperatingSystemEntry | None, facts: Facts) -> str | None:
    """Where the platform's installer puts a driver, for systems that carry none."""
    if facts.distribution is None or (entry is not None and entry.driver in ("os", "variant")):
        return None
    return facts.distribution.host_folders.get("driver")


def _opt_outs(pool: PoolPlan, source: DriverSource, origin: Origin, facts: Facts) -> list[LabelSetting]:
    """Labels that keep the operator's parts off nodes whose system has them."""
    entry = facts.catalog.operating_systems.get(pool.profile.spec.os.id)
    labels = []
    if source is DriverSource.PREINSTALLED:
        because = Derived("drivers", "the operator leaves nodes with this label without a driver pod", (origin,))
        labels.append(LabelSetting(DEPLOY_DRIVER, "pre-installed", "provisioner", because))
    if entry is not None and entry.device_plugin == "os":
        why = f"{entry.id} runs a device plugin itself, and two of them would advertise the same GPUs"
        because = Derived("drivers", why, (facts.at_pool(pool, "/spec/os/id"),))
        labels.append(LabelSetting(DEPLOY_DEVICE_PLUGIN, "false", "provisioner", because))
        _refuse_sharing(pool, facts)
    if facts.distribution is not None:
        at = facts.at_cluster("/spec/kubernetes/distribution")
        for key, value, why in facts.distribution.node_labels:
            labels.append(LabelSetting(key, value, "provisioner", Derived("drivers", why, (at,))))
    return labels


def _refuse_sharing(pool: PoolPlan, facts: Facts) -> None:
    """The operator's configuration of sharing reaches its own device plugin only."""
    sharing = pool.profile.spec.sharing
    if sharing.time_slicing is not None or sharing.mps is not None:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            "/spec/sharing",
            f"{pool.profile.spec.os.id} runs a device plugin itself, and the operator's settings don't reach it",
            help="remove `sharing`, and set it where the nodes are made",
        )
