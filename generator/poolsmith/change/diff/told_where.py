"""Clusters and pools in a sentence that is told once for many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.pool_words import on_pools
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ChangeReport

_FEW = 3


@record
class Fleet:
    """What is touched: where one cluster alone is (`only`), it is not named again in each sentence.

    `pools`: how many there are; 0 where some come, go or are renamed, so that a number of them does not say which.
    """

    only: bool
    pools: int = 0


def fleet_of(report: ChangeReport) -> Fleet:
    standings = [pool.standing for one in report.clusters for pool in one.pools]
    standings += [one.standing for one in report.clusters]
    is_same = all(standing is Standing.CHANGED for standing in standings)
    return Fleet(only=len(report.clusters) == 1, pools=report.pools if is_same else 0)


class Where:
    """Pools by the clusters that they are of, gathered while things are found to be alike."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self._pools: dict[str, dict[str, None]] = {}

    def add(self, cluster: str, pools: Iterable[str] = ()) -> None:
        self._pools.setdefault(cluster, {}).update(dict.fromkeys(pools))

    @property
    def clusters(self) -> tuple[str, ...]:
        return tuple(sorted(self._pools))

    @property
    def pools(self) -> frozenset[tuple[str, str]]:
        """Known ones: cluster and pool."""
        return frozenset(
            (cluster, pool)
            for cluster, names in self._pools.items()
            for pool in names
            if pool not in (ANY_NODE, NO_KNOWN_NODE)
        )

    def __str__(self) -> str:
        """`on pool a`, `on pools a, b of cluster x`, `on 30 pools of 3 clusters`; empty for one cluster as a whole."""
        return self.said()

    def said(self, *, any_node: bool = True) -> str:
        if len(self._pools) == 1:
            ((cluster, names),) = self._pools.items()
            pools = on_pools(sorted(names)) if any_node or self.pools else ""
            if self.fleet.only:
                return pools if not self._is_all else f"on all {len(self.pools):,} pools"
            named = f"cluster `{shorten(cluster)}`"
            return f"{pools} of {named}" if pools else f"on {named}"
        return self._of_many(any_node=any_node)

    @property
    def _is_all(self) -> bool:
        return len(self.pools) == self.fleet.pools > _FEW

    def _of_many(self, *, any_node: bool) -> str:
        count = len(self._pools)
        pools = self.pools
        if not pools:
            has_any = any_node and any(ANY_NODE in names for names in self._pools.values())
            return f"on any node of {count:,} clusters" if has_any else f"on {count:,} clusters"
        names = sorted({pool for _, pool in pools})
        if len(names) == 1 and len(pools) == count:
            return f"on pool `{shorten(names[0])}` of {count:,} clusters"
        what = f"all {len(pools):,} pools" if self._is_all else counted(len(pools), "pool")
        return f"on {what} of {count:,} clusters"
