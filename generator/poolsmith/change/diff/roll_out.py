"""How a change rolls over nodes, as lanes: what is replaced, in which waves, at whose pace."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DisruptionKind, Waves
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport, Disruption

_SHOWN = (DisruptionKind.DRIVER, DisruptionKind.RESTART)


@record
class Lane:
    """`workloads` (`Kind/name`) whose pods are replaced alike on `pools` (cluster and pool).

    `waves` are those of each driver; of other workloads those of the slowest.
    """

    kind: DisruptionKind
    workloads: tuple[str, ...]
    pools: tuple[tuple[str, str], ...]
    waves: Waves
    policies: tuple[str, ...]
    """What sets the pace of each, in words."""


def lanes(report: ChangeReport) -> tuple[Lane, ...]:
    """Drivers first, and the longest first. Pods without nodes of their own, as those of Deployments, have no lane."""
    alike: dict[tuple[object, ...], list[tuple[str, Disruption]]] = defaultdict(list)
    for cluster in report.clusters:
        for item in cluster.disruptions:
            if item.kind in _SHOWN and item.waves is not None and item.pools:
                alike[_key(item, item.waves)].append((cluster.name, item))
    return tuple(sorted(map(_lane, alike.values()), key=_order))


def _key(item: Disruption, waves: Waves) -> tuple[object, ...]:
    """Of drivers each number counts; other pods are a matter of seconds, and only their pace does."""
    if item.kind is DisruptionKind.DRIVER:
        return item.kind, waves.nodes, waves.at_once, waves.waves, waves.drains, waves.limit, waves.minutes
    return item.kind, waves.at_once, waves.automatic


def _lane(found: list[tuple[str, Disruption]]) -> Lane:
    told = [item.waves for _, item in found if item.waves is not None]
    return Lane(
        kind=found[0][1].kind,
        workloads=tuple(sorted({item.what for _, item in found})),
        pools=tuple(sorted({(cluster, pool) for cluster, item in found for pool in item.pools})),
        waves=max(told, key=lambda one: (one.waves is None, one.waves or 0)),
        policies=tuple(sorted({one.policy for one in told if one.policy})),
    )


def _order(lane: Lane) -> tuple[object, ...]:
    waves = lane.waves
    return _SHOWN.index(lane.kind), waves.automatic, waves.at_once != "all", -(waves.waves or 0), lane.pools
