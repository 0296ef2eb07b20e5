"""What leaves the delivery, told once for all clusters that it is the same in, before everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Outcome
from poolsmith.change.diff.departure_words import sentence
from poolsmith.change.diff.told import Point, Weight
from poolsmith.change.diff.told_where import Where
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ClusterDiff, Departure
    from poolsmith.change.diff.told_where import Fleet

_ORDER = tuple(Outcome)
_GRAVE = frozenset((Outcome.UNINSTALLED, Outcome.CONTESTED))


def departure_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """The gravest first; of the same weight the worst outcome, then what is on most clusters."""
    groups: dict[tuple[object, ...], list[tuple[str, Departure]]] = {}
    for cluster in clusters:
        for item in cluster.departures:
            key = item.outcome, item.headline, item.cause, item.effect, bool(item.drivers), weight_of(item)
            groups.setdefault((*key, item.acknowledged_by), []).append((cluster.name, item))
    points = [(found[0][1], _point(found, fleet)) for found in groups.values()]
    points.sort(key=lambda entry: _rank(*entry))
    return tuple(point for _, point in points)


def _rank(item: Departure, point: Point) -> tuple[object, ...]:
    return point.weight.rank, _ORDER.index(item.outcome), not item.is_chart, -point.stands_for


def weight_of(item: Departure) -> Weight:
    """What is acknowledged asks nobody to decide, and is told."""
    is_grave = item.outcome in _GRAVE or (item.outcome is Outcome.DELETED and bool(item.drivers))
    return Weight.GRAVE if is_grave and not item.acknowledged_by else Weight.NOTABLE


def departure_phrases(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    """For the one line of what matters: the worst outcome, on how many clusters, and how many objects leave."""
    found = [(cluster.name, item) for cluster in clusters for item in cluster.departures]
    if not found:
        return
    worst = min((item for _, item in found), key=lambda item: _ORDER.index(item.outcome)).outcome
    names = sorted({name for name, item in found if item.outcome is worst})
    where = f"on cluster `{shorten(names[0])}`" if len(names) == 1 else f"on {len(names):,} clusters"
    verb = "leaves the delivery or moves" if len(found) == 1 else "leave the delivery or move"
    first = min((item for _, item in found if item.outcome is worst), key=lambda item: (not item.is_chart, item.name))
    yield f"it {first.headline} {where}: {counted(len(found), 'object')} {verb}"


def _point(found: list[tuple[str, Departure]], fleet: Fleet) -> Point:
    where, drivers = Where(fleet), Where(fleet)
    for cluster, item in found:
        where.add(cluster)
        drivers.add(cluster, item.drivers)
    items = [item for _, item in found]
    name = shorten(found[0][0])
    at = str(where) or f"on cluster `{name}`"
    gone = str(drivers) if items[0].drivers and len(where.clusters) > 1 else None
    words = sentence(items, at, gone)
    by = items[0].acknowledged_by
    return Point(
        words=f"{words}; acknowledged with this change, by `{shorten(by)}`" if by else words,
        weight=weight_of(items[0]),
        clusters=where.clusters,
        places=tuple(dict.fromkeys(item.place for item in items if item.place is not None)),
        details=tuple(item.words for item in items) if len(items) > 1 else (),
        stands_for=len(items),
    )
