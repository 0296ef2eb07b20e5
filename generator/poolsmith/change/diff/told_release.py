"""What another release brings, told once for all clusters that it is the same in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ReleaseChangeKind
from poolsmith.change.diff.pool_words import on_pools
from poolsmith.change.diff.told import Weight
from poolsmith.change.diff.told_content import Gathered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from poolsmith.change.diff.change_report import ClusterDiff
    from poolsmith.change.diff.told import Point
    from poolsmith.change.diff.told_where import Fleet

_WEIGHTS = {
    ReleaseChangeKind.PATH: Weight.GRAVE,
    ReleaseChangeKind.ACCEPTED: Weight.NOTABLE,
    ReleaseChangeKind.SANDBOX: Weight.NOTABLE,
    ReleaseChangeKind.ISSUE: Weight.NOTABLE,
    ReleaseChangeKind.STAYS: Weight.NOTABLE,
}


def release_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """What is the same but for pools is one sentence."""
    gathered = Gathered(fleet)
    for cluster in clusters:
        for item in cluster.release:
            words = item.words.removesuffix(f", {on_pools(item.pools)}") if item.pools else item.words
            gathered.add(
                (item.kind, words),
                _sentence(words),
                cluster.name,
                item.pools,
                weight=_WEIGHTS.get(item.kind, Weight.PLAIN),
                place=item.place,
            )
    return gathered.points()


def _sentence(words: str) -> Callable[[str], str]:
    return lambda where: f"{words}, {where}" if where else words
