"""Whether a change disturbs clusters of several rings in one merge: then no ring tells anything to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.told import Point, Weight
from poolsmith.core.diagnostics.listing import joined, listed
from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ClusterDiff

_QUIET = frozenset((DisruptionKind.LEFT, DisruptionKind.STARTED, DisruptionKind.STOPPED))
_FEW = 3


def disturbed_rings(clusters: Iterable[ClusterDiff]) -> dict[str, list[ClusterDiff]]:
    """The rings, by name, whose clusters have something replaced, restarted or lost."""
    found: dict[str, list[ClusterDiff]] = {}
    for cluster in clusters:
        if cluster.ring and any(item.kind not in _QUIET for item in cluster.disruptions):
            found.setdefault(cluster.ring, []).append(cluster)
    return dict(sorted(found.items()))


def ring_points(clusters: Iterable[ClusterDiff]) -> Iterator[Point]:
    """One, where it is more than one ring."""
    rings = disturbed_rings(clusters)
    if len(rings) > 1:
        where = (f"`{ring}` ({listed((shorten(item.name) for item in found), _FEW)})" for ring, found in rings.items())
        places = dict.fromkeys(item.place for found in rings.values() for one in found for item in one.disruptions)
        yield Point(
            words=f"several rings are disturbed by one merge: {joined(where, len(rings))}; a version of the base, or a "
            "change for each ring, lets one ring go first",
            weight=Weight.NOTABLE,
            clusters=tuple(item.name for found in rings.values() for item in found),
            places=tuple(place for place in places if place is not None)[:_FEW],
            stands_for=0,
        )
