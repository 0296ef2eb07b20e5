"""What a change does to each pool, in words for a map of the fleet: the gravest first."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.privilege_words import gains
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff


class PoolMark(StrEnum):
    """The values are words for people."""

    GONE = "gone"
    NEW = "new"
    STOPS = "loses what workloads ask for"
    DRIVER = "driver replaced"
    UNGRANTED = "more privileges, not granted"
    MORE = "more privileges"
    MIG = "new MIG layout"
    RESTARTS = "pods restart"
    OTHER = "changes"


_OF_POOLS = {Standing.ADDED: PoolMark.NEW, Standing.REMOVED: PoolMark.GONE}
_OF_DISRUPTIONS = {
    DisruptionKind.DRIVER: PoolMark.DRIVER,
    DisruptionKind.LOST: PoolMark.STOPS,
    DisruptionKind.MIG: PoolMark.MIG,
    DisruptionKind.RESTART: PoolMark.RESTARTS,
}
_SAID_BY_NEW = frozenset((PoolMark.MORE, PoolMark.OTHER))
"""What goes without saying of a new pool."""


def pool_marks(report: ChangeReport) -> dict[tuple[str, str], tuple[PoolMark, ...]]:
    """By cluster and pool, of those to which anything happens."""
    found: dict[tuple[str, str], set[PoolMark]] = defaultdict(set)
    for cluster in report.clusters:
        for pool, mark in _marks(cluster):
            found[cluster.name, pool].add(mark)
    return {pool: tuple(mark for mark in PoolMark if mark in _worth_saying(marks)) for pool, marks in found.items()}


def _worth_saying(marks: set[PoolMark]) -> set[PoolMark]:
    return marks - _SAID_BY_NEW if PoolMark.NEW in marks else marks


def _marks(cluster: ClusterDiff) -> Iterator[tuple[str, PoolMark]]:
    for pool in cluster.pools:
        yield pool.name, _OF_POOLS.get(pool.standing, PoolMark.OTHER)
    for disruption in cluster.disruptions:
        for name in disruption.pools:
            yield name, _OF_DISRUPTIONS.get(disruption.kind, PoolMark.OTHER)
    for other in cluster.others:
        yield other.pool, PoolMark.STOPS if other.stops else PoolMark.OTHER
    for item in cluster.privileges:
        if gains(item.change):
            for name in item.change.pools_after:
                yield name, PoolMark.UNGRANTED if item.granted is False else PoolMark.MORE
