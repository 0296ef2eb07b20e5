"""Which pools a known issue of a release is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.plan import values_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.fleet.plan.plan import PoolPlan


def concerned(issue: Mapping[str, Any], seen: SeenCluster) -> tuple[str, ...] | None:
    """Names of pools; none for an issue of the whole cluster; None where it is about nothing that is here."""
    if "distributions" in issue and seen.plan.cluster.spec.kubernetes.distribution not in issue["distributions"]:
        return None
    if "value" in issue and not value_at(values_tree(seen.plan.values), tuple(issue["value"].split("."))):
        return None
    asked = [(test, issue[key]) for key, test in _POOL_TESTS.items() if key in issue]
    if not asked:
        return ()
    pools = tuple(pool.name for pool in seen.plan.pools if all(test(pool, value) for test, value in asked))
    return pools or None


def _versions(pool: PoolPlan, majors: list[str]) -> bool:
    system = pool.profile.spec.os
    return any(version.partition(".")[0] in majors for version in (system.versions or (system.version,)))


_POOL_TESTS: dict[str, Callable[[PoolPlan, Any], bool]] = {
    "runtimes": lambda pool, names: pool.profile.spec.runtime.name in names,
    "systems": lambda pool, names: pool.profile.spec.os.id in names,
    "versions": _versions,
    "drivers": lambda pool, sources: pool.driver is not None and pool.driver.source in sources,
    "gpus": lambda pool, parts: any(part in pool.profile.spec.gpu.product for part in parts),
    "mig": lambda pool, asked: (pool.profile.spec.gpu.mig is not None) is asked,
    "nics": lambda pool, names: pool.profile.spec.nic in names,
    "rdma": lambda pool, asked: pool.profile.spec.driver.rdma is asked,
    "vgpu": lambda pool, asked: (pool.profile.spec.driver.vgpu is not None) is asked,
    "workloads": lambda pool, names: pool.profile.spec.workload in names,
}
"""By the field of an issue."""
POOL_FIELDS = frozenset(_POOL_TESTS)
