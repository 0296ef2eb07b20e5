"""What the change of some pools does to others, told once for all pools and clusters that it is the same for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.pool_words import on_pools
from poolsmith.change.diff.told import Point, Weight
from poolsmith.change.diff.told_content import Gathered
from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ClusterDiff, OtherPoolChange
    from poolsmith.change.diff.told_where import Fleet

_POOLS = "\0"


def other_pool_points(clusters: Iterable[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """What stops workloads first. What is acknowledged asks nobody to decide, and is told."""
    gathered = Gathered(fleet)
    for cluster in clusters:
        for item in cluster.others:
            template = item.words.replace(on_pools((item.pool,)), _POOLS)

            def told(where: str, template: str = template, by: str = item.acknowledged_by) -> str:
                words = template.replace(_POOLS, where)
                return f"{words}; acknowledged with this change, by `{shorten(by)}`" if by else words

            gathered.add(
                (item.kind, template, item.acknowledged_by),
                told,
                cluster.name,
                (item.pool,),
                weight=_weight(item),
                place=item.place,
            )
    return gathered.points()


def _weight(item: OtherPoolChange) -> Weight:
    return Weight.GRAVE if item.stops and not item.acknowledged_by else Weight.NOTABLE
