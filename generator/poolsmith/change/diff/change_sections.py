"""A change as a reviewer reads it: sections of points, what matters first. Every format shows these.

Words are sentences with names in backticks; they hold text of users, which each format makes harmless in its own way.

Pools in a sentence.

Clusters and pools in a sentence that is told once for many of them.

What was compared, and how much of it differs, in one line.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import counted, joined, plural, shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Location


class Weight(StrEnum):
    """How much attention something asks for; the most comes first."""

    GRAVE = "grave"
    """Somebody has to decide: more rights that nobody granted, errors, what can't be told."""
    NOTABLE = "notable"
    """Something is disturbed, or may do more than before."""
    PLAIN = "plain"

    @property
    def rank(self) -> int:
        return list(Weight).index(self)


class Part(StrEnum):
    """The sections, in the order in which they are read; the values are their titles."""

    LEAVES = "leaves the delivery"
    UNKNOWN = "can't be told"
    OWN = "allows itself"
    OTHERS = "what other pools get from it"
    RELEASE = "release, and what stays behind"
    MORE = "privileges: more"
    LESS = "privileges: less"
    DISRUPTION = "disruption"
    IMAGES = "images"
    FIELDS = "profiles and values"
    OBJECTS = "objects"
    NEW = "new findings"
    FIXED = "fixed findings"
    FLEET = "clusters and pools"
    DRIFT = "drift"


@record
class Point:
    """One thing that a change does, told once for all `clusters` that it is the same in.

    `places` are lines that people edit, `details` further sentences for who asks for all. `stands_for`: how many
    things of the change it tells.
    """

    words: str
    weight: Weight = Weight.PLAIN
    clusters: tuple[str, ...] = ()
    places: tuple[Location, ...] = ()
    details: tuple[str, ...] = ()
    stands_for: int = 1
    is_note: bool = False
    """A finding that is a note, or waived: it may be folded away."""


@record
class Section:
    """Points of one part, the gravest first. `in_short` tells all of them in one line."""

    part: Part
    points: tuple[Point, ...]
    in_short: str

    @property
    def weight(self) -> Weight:
        return min((point.weight for point in self.points), key=lambda item: item.rank)

    @property
    def title(self) -> str:
        return self.part.value


@record
class Told:
    """`verdict` is one line of what matters, `scope` one of what was compared and how much of it differs."""

    weight: Weight
    verdict: str
    scope: str
    sections: tuple[Section, ...]

    @property
    def points(self) -> int:
        return sum(len(section.points) for section in self.sections)


_SHOWN = 6


def on_pools(pools: Sequence[str]) -> str:
    """`on pool a`, `on pools a, b`, `on any node`, `on no known node`; nothing for no pools."""
    if not pools:
        return ""
    if ANY_NODE in pools:
        return "on any node"
    known = [pool for pool in pools if pool != NO_KNOWN_NODE]
    if not known:
        return "on no known node"
    return f"on {plural(len(known), 'pool')} {joined([f'`{shorten(pool)}`' for pool in known], _SHOWN)}"


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


def scope(report: ChangeReport) -> str:
    """`main (cd771c535665) to the work tree: 1 cluster changes (`edge`), 7 do not`."""
    compared = f"{_revision(report.base.name, report.base.commit)} to {_revision(report.head.name, report.head.commit)}"
    touched = len(report.clusters)
    why = f"; all clusters were looked at: {report.why_all}" if report.why_all else ""
    if not touched:
        return f"{compared}: {_unchanged(report.unchanged_clusters)}{why}"
    names = ", ".join(f"`{shorten(item.name)}`" for item in report.clusters[:_FEW])
    more = f" and {touched - _FEW:,} more" if touched > _FEW else ""
    which = "cluster changes" if touched == 1 else "clusters change"
    rest = f", {report.unchanged_clusters:,} do not" if report.unchanged_clusters else ""
    return f"{compared}: {touched:,} {which} ({names}{more}){rest}{why}"


def _revision(name: str, commit: str) -> str:
    short = commit[:12]
    return f"{shorten(name)} ({short})" if short and not name.startswith(short) else shorten(name)


def _unchanged(count: int) -> str:
    return "no cluster changes" if count != 1 else "the cluster does not change"
