"""Chart defaults that differ between releases, if a cluster uses them, and the pools that a known issue is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.sources.pointer import leaves_of, value_at
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.gpu.catalog.charts import SUBCHART

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.plan.plan import PoolPlan


_OF_IMAGES = frozenset(("image", "repository", "version", "tag", "digest", "imagePullPolicy", "imagePullSecrets"))
"""Reported as images."""
_NOTHING: tuple[Any, ...] = (None, "", False, [], {})


def default_changes(before: SeenCluster, after: SeenCluster) -> tuple[str, ...]:
    """Sentences, by the path of the value. What only one of the releases knows is no default that changes."""
    old, new = before.prediction.origins.chart, after.prediction.origins.chart
    if old is None or new is None:
        return ()
    then, now = dict(leaves_of(old.defaults)), dict(leaves_of(new.defaults))
    given = values_tree(before.plan.values), values_tree(after.plan.values)
    found = []
    for path in sorted(then.keys() & now.keys()):
        was, is_now = then[path], now[path]
        if was == is_now and type(was) is type(is_now):
            continue
        if (was in _NOTHING and is_now in _NOTHING) or path[0] == SUBCHART or not _OF_IMAGES.isdisjoint(path):
            continue
        if any(_is_given(values, path) for values in given) or not _runs(path, new.defaults, given[1]):
            continue
        found.append(f"the chart's default of `{'.'.join(path)}` is {_shown(is_now)}, and was {_shown(was)}")
    return tuple(found)


def _is_given(values: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Whether the profiles say something at a path, above it, or below it."""
    node: Any = values
    for key in path:
        if not isinstance(node, dict):
            return True
        if key not in node:
            return False
        node = node[key]
    return True


def _runs(path: tuple[str, ...], defaults: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether each part that the value belongs to is on, as far as it has a switch."""
    for length in range(1, len(path)):
        switch = (*path[:length], "enabled")
        value = value_at(given, switch) if _is_given(given, switch) else value_at(defaults, switch)
        if switch != path and value is False:
            return False
    return True


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return f"`{shorten(value if isinstance(value, str) and value else json.dumps(value))}`"


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
