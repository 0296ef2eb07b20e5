"""What a change disturbs, told once for all clusters and pools that it is the same on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.pool_words import on_pools
from poolsmith.change.diff.told import Point, Weight
from poolsmith.change.diff.told_where import Where
from poolsmith.core.diagnostics.listing import counted, joined
from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ClusterDiff, Disruption
    from poolsmith.change.diff.told_where import Fleet

_ORDER = tuple(DisruptionKind)
_WEIGHTS = {
    DisruptionKind.LOST: Weight.GRAVE,
    DisruptionKind.STARTED: Weight.PLAIN,
}
_FOLDED = {
    DisruptionKind.RESTART: "{} restart",
    DisruptionKind.STARTED: "{} start",
    DisruptionKind.STOPPED: "{} stop",
}
_TOLD_FIRST = frozenset((DisruptionKind.UNINSTALLED, DisruptionKind.LEFT))
"""In a section of their own."""
_FEW, _FEW_NAMES = 2, 6
_POOLS, _NODES, _WAVES, _NAME = "\0pools", "\0nodes", "\0waves", "\0name"


def disruption_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """In the order of DisruptionKind. Many restarts, starts or stops are one point, with each in its details."""
    groups: dict[tuple[object, ...], _Group] = {}
    for cluster in clusters:
        for item in cluster.disruptions:
            if item.kind in _TOLD_FIRST:
                continue
            words = _template(item)
            key = (item.kind, words, "" if words != item.words else cluster.name)
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(item.kind, words, fleet)
            group.add(cluster.name, item)
    points: list[Point] = []
    for kind in _ORDER:
        found = sorted(
            (group for group in groups.values() if group.kind is kind), key=lambda one: (-one.size, one.words)
        )
        if kind in _FOLDED and len(found) > _FEW:
            points.append(_folded(kind, found, fleet))
        else:
            points += [group.point() for group in found]
    return tuple(sorted(points, key=lambda point: point.weight.rank))


def _template(item: Disruption) -> str:
    """The sentence without what differs from cluster to cluster: pools, and how many nodes and waves there are."""
    words = item.words
    if where := on_pools(item.pools):
        words = words.replace(where, _POOLS, 1)
    if item.kind is DisruptionKind.DRIVER:
        words = words.replace(f"`{shorten(_name(item.what))}`", _NAME, 1)
    if item.waves is not None and _POOLS in words and item.kind is DisruptionKind.DRIVER:
        if item.waves.nodes is not None:
            words = words.replace(f" {counted(item.waves.nodes, 'node')},", f" {_NODES},", 1)
        if item.waves.waves is not None:
            words = words.replace(f", {counted(item.waves.waves, 'wave')}", f", {_WAVES}", 1)
    return words


class _Group:
    """What is alike but for pools and numbers."""

    def __init__(self, kind: DisruptionKind, words: str, fleet: Fleet) -> None:
        self.kind = kind
        self.words = words
        self.where = Where(fleet)
        self.names: dict[str, None] = {}
        self.nodes = self.waves = self.count = 0
        self.places: dict[object, None] = {}

    @property
    def size(self) -> int:
        return len(self.where.pools)

    def add(self, cluster: str, item: Disruption) -> None:
        self.count += 1
        self.where.add(cluster, item.pools)
        self.names[item.what] = None
        if item.waves is not None:
            self.nodes += item.waves.nodes or 0
            self.waves = max(self.waves, item.waves.waves or 0)
        if item.place is not None:
            self.places[item.place] = None

    def sentence(self) -> str:
        at = str(self.where)
        words = self.words.replace(_NODES, counted(self.nodes, "node"))
        waves = counted(self.waves, "wave")
        words = words.replace(_WAVES, waves if self.count == 1 else f"up to {waves} each")
        words = words.replace(_NAME, _names(self.names, _FEW))
        if _POOLS in words:
            return words.replace(_POOLS, at)
        return f"{words}, {at}" if at and at not in words and not self.where.pools else words

    def point(self) -> Point:
        return Point(
            words=self.sentence(),
            weight=_WEIGHTS.get(self.kind, Weight.NOTABLE),
            clusters=self.where.clusters,
            places=tuple(self.places),  # type: ignore[arg-type]
            stands_for=self.count,
        )


def _name(what: str) -> str:
    return what.partition("/")[2] or what


def _names(workloads: Iterable[str], limit: int) -> str:
    return joined([f"`{shorten(_name(what))}`" for what in workloads], limit)


def _folded(kind: DisruptionKind, groups: list[_Group], fleet: Fleet) -> Point:
    where = Where(fleet)
    names: dict[str, None] = {}
    places: dict[object, None] = {}
    for group in groups:
        names |= group.names
        places |= group.places
        for cluster in group.where.clusters:
            where.add(cluster)
        for cluster, pool in group.where.pools:
            where.add(cluster, (pool,))
    shown = _names(names, _FEW_NAMES)
    at = f" {where}" if str(where) else ""
    return Point(
        words=f"{_FOLDED[kind].format(counted(len(names), 'workload'))}{at}: {shown}",
        weight=_WEIGHTS.get(kind, Weight.NOTABLE),
        clusters=where.clusters,
        places=tuple(places),  # type: ignore[arg-type]
        details=tuple(group.sentence() for group in groups),
        stands_for=sum(group.count for group in groups),
    )
