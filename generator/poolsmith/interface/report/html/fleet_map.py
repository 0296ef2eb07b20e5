"""The map of a fleet: a tile for pools that are alike, coloured by what a change does to them, which words say too.

Clusters that look alike are one row.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.pool_marks import PoolMark, pool_marks
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.interface.report.html.page import anchor, joined, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff
    from poolsmith.interface.report.fleet_facts import ClusterFacts, FleetFacts, PoolFacts
    from poolsmith.interface.report.html.page import Html

_FEW_NAMES, _FEW_PLAIN = 3, 12
_CLASSES = {
    PoolMark.GONE: "less",
    PoolMark.NEW: "new",
    PoolMark.STOPS: "grave",
    PoolMark.DRIVER: "driver",
    PoolMark.UNGRANTED: "grave",
    PoolMark.MORE: "notable",
    PoolMark.MIG: "notable",
    PoolMark.RESTARTS: "notable",
    PoolMark.OTHER: "notable",
}


@record
class _Tile:
    """Pools of a cluster that look alike. `facts` are lines; `marks` what a change does to them."""

    names: tuple[str, ...]
    facts: tuple[str, ...]
    marks: tuple[PoolMark, ...]

    @property
    def look(self) -> tuple[object, ...]:
        return self.facts, self.marks, len(self.names)


@record
class _Lane:
    """Clusters that look alike."""

    clusters: tuple[ClusterFacts, ...]
    release: str
    tiles: tuple[_Tile, ...]

    @property
    def changes(self) -> bool:
        return any(tile.marks for tile in self.tiles)


class Targets:
    """Where the names on a map lead: into the same page."""

    def cluster(self, cluster: str) -> str:
        return f"#{anchor('fleet', cluster)}"

    def pool(self, cluster: str, pool: str) -> str:
        return f"#{anchor('pool', cluster, pool)}"


_HERE = Targets()


def fleet_map(fleet: FleetFacts, change: ChangeReport | None, targets: Targets = _HERE) -> Html:
    """Of all clusters; those that change come first."""
    marks = pool_marks(change) if change is not None else {}
    diffs = {item.name: item for item in change.clusters} if change is not None else {}
    lanes = sorted(_lanes(fleet, diffs, marks), key=lambda lane: not lane.changes)
    first = [lane for lane in lanes if lane.changes] if change is not None else lanes[:_FEW_PLAIN]
    rest = lanes[len(first) :]
    parts = [_lanes_of(first, targets)] if first else []
    if rest:
        count = counted(sum(len(lane.clusters) for lane in rest), "cluster")
        heading = f"{count} without a change" if change is not None else f"{count} more"
        parts.append(tag("details", tag("summary", heading), _lanes_of(rest, targets), class_="more box"))
    return tag("div", *parts, class_="panel", id="map")


def _lanes(
    fleet: FleetFacts, diffs: Mapping[str, ClusterDiff], marks: Mapping[tuple[str, str], tuple[PoolMark, ...]]
) -> Iterable[_Lane]:
    alike: dict[tuple[object, ...], list[tuple[ClusterFacts, tuple[_Tile, ...], str]]] = defaultdict(list)
    for cluster in fleet.clusters:
        diff = diffs.get(cluster.name)
        tiles = _tiles(cluster, diff, marks)
        release = _release(cluster, diff)
        look = release, cluster.ring, tuple(sorted((tile.look for tile in tiles), key=repr))
        alike[look].append((cluster, tiles, release))
    for found in alike.values():
        _, tiles, release = found[0]
        yield _Lane(clusters=tuple(cluster for cluster, _, _ in found), release=release, tiles=tiles)


def _release(cluster: ClusterFacts, diff: ClusterDiff | None) -> str:
    if diff is None or not diff.old_release or diff.old_release == diff.new_release:
        return cluster.release
    return f"{diff.old_release} \u2192 {diff.new_release or 'none'}"


def _tiles(
    cluster: ClusterFacts, diff: ClusterDiff | None, marks: Mapping[tuple[str, str], tuple[PoolMark, ...]]
) -> tuple[_Tile, ...]:
    found: dict[tuple[tuple[str, ...], tuple[PoolMark, ...]], list[str]] = defaultdict(list)
    for pool in cluster.pools:
        found[_facts(pool), marks.get((cluster.name, pool.name), ())].append(pool.name)
    known = {pool.name for pool in cluster.pools}
    for gone in diff.pools if diff is not None else ():
        if gone.name not in known and (mark := marks.get((cluster.name, gone.name), ())):
            found[(), mark].append(gone.name)
    order = list(PoolMark)
    tiles = (_Tile(names=tuple(names), facts=facts, marks=shown) for (facts, shown), names in found.items())
    return tuple(sorted(tiles, key=lambda tile: [order.index(mark) for mark in tile.marks] or [len(order)]))


def _facts(pool: PoolFacts) -> tuple[str, ...]:
    sharing = "" if pool.sharing in ("none", "") else pool.sharing
    return tuple(filter(None, (pool.gpu, f"driver {pool.driver}", f"{pool.system}, kernel {pool.kernel}", sharing)))


def _lanes_of(lanes: Iterable[_Lane], targets: Targets) -> Html:
    return tag("div", joined(_lane(item, targets) for item in lanes), class_="map")


def _lane(lane: _Lane, targets: Targets) -> Html:
    first = lane.clusters[0]
    title = tag("h3", tag("a", first.name, href=targets.cluster(first.name)))
    rest = lane.clusters[1:]
    about = " · ".join(filter(None, (lane.release, first.ring and f"ring {first.ring}", first.kubernetes)))
    parts = [title, tag("span", about or "its profiles have errors", class_="scope")]
    if rest:
        names = tag("span", ", ".join(item.name for item in rest))
        parts.append(
            tag("details", tag("summary", f"and {counted(len(rest), 'cluster')} like it"), names, class_="inline")
        )
    tiles = tag("ul", joined(_tile(first, tile, targets) for tile in lane.tiles), class_="tiles")
    return tag("section", tag("header", *parts), tiles, class_="map-lane")


def _tile(cluster: ClusterFacts, tile: _Tile, targets: Targets) -> Html:
    rest = len(tile.names) - _FEW_NAMES
    title = ", ".join(tile.names[:_FEW_NAMES]) + (f" and {rest:,} more" if rest > 0 else "")
    name = tag("a", title, href=targets.pool(cluster.name, tile.names[0])) if tile.facts else tag("span", title)
    parts = [tag("strong", name), *(tag("span", fact) for fact in tile.facts)]
    if tile.marks:
        marks = joined(tag("em", mark.value, class_=_CLASSES[mark]) for mark in tile.marks)
        parts.append(tag("span", marks, class_="what"))
    look = _CLASSES[tile.marks[0]] if tile.marks else "same"
    return tag("li", *parts, class_=f"hit tile {look}")
