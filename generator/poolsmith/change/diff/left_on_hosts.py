"""What a change of mode, stack or pools leaves on hosts, where no file of the delivery shows it.

The directories are those that `verify` looks for (`verify/left_overs.yaml`): nothing that is delivered empties them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS
from poolsmith.gpu.catalog.live_cluster import read_left_overs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.plan.plan import PoolPlan

_MANY = 20


def left_on_hosts(
    before: SeenCluster, after: SeenCluster, new_names: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What stays in words, and the pools of now; a pool that is gone is named in the words."""
    hosts, now = read_left_overs().hosts, {pool.name: pool for pool in after.plan.pools}
    was, still = (side.plan.cluster.spec.stack.by_operator for side in (before, after))
    if was and not still:
        pools = tuple(pool.name for pool in before.plan.pools)
        yield f"the operator leaves {_dirs(hosts['operator'])} on the hosts, {on_pools(pools)}", ()
    for pool in before.plan.pools:
        other = now.get(new_names.get(pool.name, pool.name))
        if _is_kata(pool) and (other is None or not _is_kata(other)):
            who = f"pool `{pool.name}`" if other is None else on_pools([other.name])
            yield f"Kata leaves {_dirs(hosts['kata'])} on the hosts, {who}", () if other is None else (other.name,)


def _is_kata(pool: PoolPlan) -> bool:
    return pool.profile.spec.workload in KATA_WORKLOADS


def _dirs(paths: tuple[str, ...]) -> str:
    return f"what it wrote to {listed(paths, _MANY)}, until somebody removes it or makes the nodes anew"
