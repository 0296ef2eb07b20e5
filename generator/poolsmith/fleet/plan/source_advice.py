"""Where else the driver of a pool may come from: what a help names, no other pass refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.gpu.drivers.features import BESIDE_COMPILED
from poolsmith.gpu.drivers.published_images import has_precompiled

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import PoolPlan


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
