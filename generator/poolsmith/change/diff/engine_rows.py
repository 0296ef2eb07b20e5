"""What leaves the delivery and what its engine does, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.actions import beyond_applying
from poolsmith.change.delivery.outcomes import DepartureOutcome, Verb
from poolsmith.change.diff.change_sections import Weight
from poolsmith.change.diff.rows import Row, RowKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.delivery.outcomes import Departure
    from poolsmith.change.diff.change_report import ClusterDiff

_OUTCOMES = tuple(DepartureOutcome)
_GRAVE_OUTCOMES = frozenset((DepartureOutcome.UNINSTALLED, DepartureOutcome.CONTESTED))


def weight_of(item: Departure) -> Weight:
    """What is acknowledged asks nobody to decide, and is shown all the same."""
    is_grave = item.outcome in _GRAVE_OUTCOMES or (item.outcome is DepartureOutcome.DELETED and bool(item.drivers))
    is_settled = bool(item.acknowledged_by) or item.is_intended
    return Weight.GRAVE if is_grave and not is_settled else Weight.NOTABLE


def departure_rows(cluster: ClusterDiff) -> Iterator[Row]:
    for item in cluster.departures:
        weight = weight_of(item)
        has_drivers = bool(item.drivers)
        yield Row(
            kind=RowKind.DEPARTURE,
            standing="acknowledged" if item.acknowledged_by else "",
            key=(
                item.outcome,
                item.headline,
                item.cause,
                item.effect,
                has_drivers,
                weight,
                item.acknowledged_by,
            ),
            item=item,
            cluster=cluster.name,
            pools_before=item.drivers,
            place=item.place,
            weight=weight,
            rank=2 * _OUTCOMES.index(item.outcome) + (not item.is_chart),
        )


_OF_ACTIONS = {
    Verb.REFUSE: Weight.GRAVE,
    Verb.REPLACE: Weight.GRAVE,
    Verb.WAIT: Weight.NOTABLE,
    Verb.ADOPT: Weight.NOTABLE,
    Verb.LEAVE: Weight.NOTABLE,
}


def action_rows(cluster: ClusterDiff) -> Iterator[Row]:
    for item in beyond_applying(cluster.delivery, cluster.departures):
        yield Row(
            kind=RowKind.ACTION,
            standing="",
            key=(item.verb, item.words, item.evidence),
            item=item,
            cluster=cluster.name,
            pools=None,
            place=item.place,
            weight=_OF_ACTIONS.get(item.verb, Weight.PLAIN),
        )
