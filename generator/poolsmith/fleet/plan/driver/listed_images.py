"""A pool's driver image against the images that are published, and other sources that would fit the pool.

A source is advised only where no other pass refuses it. Images of the user's own repository are not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility
from poolsmith.core.diagnostics.codes.node_software import DRIVER_IMAGE_NOT_LISTED
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.gpu.drivers.driver_image import has_precompiled, is_left_out, nearest_listed
from poolsmith.gpu.drivers.driver_support import BESIDE_COMPILED

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan, PoolPlan
    from poolsmith.fleet.profiles.node_pool import NodeSystem
    from poolsmith.gpu.catalog.driver_images import PrecompiledRow


def fitting_sources(pool: PoolPlan, facts: Facts) -> tuple[DriverSource, ...]:
    """In the order of the schema, for a system without a driver. Empty where the pool asks for what excludes all."""
    return tuple(source for source in DriverSource if _fits(source, pool, facts))


def _fits(source: DriverSource, pool: PoolPlan, facts: Facts) -> bool:
    spec = pool.profile.spec
    if source is DriverSource.CONTAINER:
        return not spec.secure_boot and spec.driver.install_dir is None
    if spec.driver.vgpu is not None or any(getattr(spec.driver, name) for name in BESIDE_COMPILED):
        return False
    if source is DriverSource.PRECOMPILED:
        is_built = spec.driver.repository is not None or has_precompiled(facts.need_release(), spec.arch)
        return is_built and spec.driver.install_dir is None
    return True


def source_advice(pool: PoolPlan, facts: Facts, *others: str) -> str:
    """`write `source: container`, or ...`; `others` are what else helps, without a verb in front if none fits."""
    asked = pool.profile.spec.driver.source
    fitting = [f"`source: {source}`" for source in fitting_sources(pool, facts) if source is not asked]
    return ", or ".join([*([f"write {fitting[0]}"] if fitting else []), *others])


_VERSION = "/spec/driver/version"
_MINOR = pattern(r"\d+\.\d+")


def check_listed(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Warn where no list names the image: it may exist, but nobody says so."""
    if not driver.managed or driver.vgpu is not None or pool.profile.spec.driver.repository is not None:
        return
    check = _check_precompiled if driver.precompiled else _check_compiled
    for system, tag in zip(pool.profile.spec.systems, driver.os_tags, strict=False):
        check(pool, driver, system, tag, facts)


def _check_precompiled(pool: PoolPlan, driver: DriverPlan, system: NodeSystem, tag: str, facts: Facts) -> None:
    images, line = facts.catalog.driver_images, facts.need_release().line
    kernel, branch = system.kernel or "", driver.branch
    near = nearest_listed(images, line=line, os_tag=tag, kernel=kernel, branch=branch)
    if not near:
        return
    facts.report_pool(
        DRIVER_IMAGE_NOT_LISTED,
        pool,
        system.kernel_pointer,
        f"the documentation of {line} lists no precompiled driver {branch} for {tag} with kernel {kernel}",
        help=f"it lists {'; '.join(map(str, near))}; else "
        + source_advice(pool, facts, "name your own images in `driver.repository`"),
        severity=Severity.NOTE if _is_newer(branch, kernel, near) else None,
    )


def _is_newer(branch: int | None, kernel: str, rows: tuple[PrecompiledRow, ...]) -> bool:
    """Whether the list has the system's kernel with older branches only: it may not know the branch yet."""
    minor = _MINOR.match(kernel)
    known = [max(row.branches) for row in rows if minor is not None and row.kernel == minor[0]]
    return branch is not None and bool(known) and branch > max(known)


def _check_compiled(pool: PoolPlan, driver: DriverPlan, system: NodeSystem, tag: str, facts: Facts) -> None:
    spec, version = pool.profile.spec, driver.version or ""
    known = facts.catalog.driver_images.compiled_on(tag)
    if known is None:
        return
    if known.processors and spec.arch not in known.processors:
        facts.report_pool(
            DRIVER_IMAGE_NOT_LISTED,
            pool,
            "/spec/arch",
            f"driver containers that are compiled on {tag} exist for {listed(known.processors)} only",
            help=source_advice(pool, facts, "name your own image in `driver.repository`"),
        )
    if is_left_out(facts.catalog.driver_images, tag, version, driver.branch):
        branches = f"of branch {known.from_branch} or later" if known.from_branch else "of an older build"
        facts.report_pool(
            DRIVER_IMAGE_NOT_LISTED,
            pool,
            _VERSION if spec.driver.version else system.version_pointer,
            f"no driver container {version} is built for {tag}",
            help=f"write a `driver.version` {branches}, or name your own image in `driver.repository`",
        )
    minor = _MINOR.match(system.kernel or "")
    if minor is not None and known.kernels and minor[0] not in known.kernels:
        newest = max(known.kernels, key=version_key)
        facts.report_pool(
            compatibility.NO_SUPPORT_ROW,
            pool,
            system.kernel_pointer,
            f"the documentation names kernels {listed(known.kernels)} for drivers compiled on {tag}",
            help=f"nothing to do, if it works for you; the newest named one is {newest}",
        )
