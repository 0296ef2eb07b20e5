"""A change as rows with keys: the one differ of keyed things, and the one grouping of rows that are alike."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from operator import eq
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from poolsmith.change.diff.change_sections import Weight
from poolsmith.core.diagnostics.message_text import counted, joined, plural, shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Location

POOLS, NODES, WAVES, NAME = "\0pools", "\0nodes", "\0waves", "\0name"
"""Marks in the sentence of a record, for what differs between rows that are alike otherwise."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@record(kw_only=False)
class Keyed(Generic[_Key, _Value]):
    """What both sides may have under one key: `old` is None where it is added, `new` where it is removed."""

    key: _Key
    old: _Value | None
    new: _Value | None

    @property
    def standing(self) -> Standing:
        if self.old is None:
            return Standing.ADDED
        return Standing.REMOVED if self.new is None else Standing.CHANGED


def keyed_changes(
    before: Mapping[_Key, _Value], after: Mapping[_Key, _Value], is_same: Callable[[_Value, _Value], bool] = eq
) -> tuple[Keyed[_Key, _Value], ...]:
    """What is added, removed or changed: in the order of `before`, then what only `after` has, in its order."""
    found: list[Keyed[_Key, _Value]] = []
    for key, old in before.items():
        new = after.get(key)
        if new is None or not is_same(old, new):
            found.append(Keyed(key, old, new))
    return (*found, *(Keyed(key, None, new) for key, new in after.items() if key not in before))


class RowKind(StrEnum):
    """What a row is about. The table of phrases has a sentence for each kind and standing."""

    DEPARTURE = "departure"
    ACTION = "action of the engine"
    UNKNOWN = "unknown"
    SELF_GRANT = "self grant"
    CROSS_POOL = "cross-pool change"
    RELEASE = "release"
    ADMITTED = "admitted pool"
    PRIVILEGE = "privilege"
    DISRUPTION = "disruption"
    IMAGE = "image"
    FIELD = "field of a profile"
    VALUE = "Helm value"
    OBJECT = "object"
    FINDING = "finding"
    CLUSTER = "cluster"
    POOL = "pool"
    DRIFT = "drift"


class By(IntEnum):
    """Who brought something about. What a person chose comes first, what another release brings last."""

    PERSON = 0
    FLEET = 1
    """Pools and clusters that come, go or get another name."""
    RELEASE = 2


@record
class Row:
    """One thing that a change does to one cluster.

    Rows with the same `key` are one sentence. `standing` chooses its phrase. `item` is the record of the report.
    `pools` are those that the sentence names, `pools_before` those where something was and is no more; None: it names
    none.
    `old` and `new` are words; `count`: how many things of the change the row stands for.
    """

    kind: RowKind
    standing: str
    key: tuple[object, ...]
    item: Any
    cluster: str = ""
    pools: tuple[str, ...] | None = ()
    pools_before: tuple[str, ...] | None = None
    name: str = ""
    old: str = ""
    new: str = ""
    text: str = ""
    place: Location | None = None
    weight: Weight = Weight.PLAIN
    rank: int = 0
    """What comes first among rows of the same weight."""
    tie: str = ""
    """What comes first among groups that are alike in all else; without it the order of the rows counts."""
    count: int = 1
    by: By = By.PERSON


@record
class Fleet:
    """The clusters that the change touches: where there is one (`only`), sentences do not name it.

    `pools`: how many there are; 0 where some are added, removed or renamed, so that a number does not say which.
    """

    only: bool
    pools: int = 0


def fleet_of(report: ChangeReport) -> Fleet:
    standings = [pool.standing for one in report.clusters for pool in one.pools]
    standings += [one.standing for one in report.clusters]
    is_same = all(standing is Standing.CHANGED for standing in standings)
    return Fleet(only=len(report.clusters) == 1, pools=report.pools if is_same else 0)


_SHOWN = 6
_FEW = 3


def on_pools(pools: Iterable[str]) -> str:
    """`on pool a`, `on pools a, b`, `on any node`, `on no known node`; nothing for no pools."""
    named = list(pools)
    if not named:
        return ""
    if ANY_NODE in named:
        return "on any node"
    known = [pool for pool in named if pool != NO_KNOWN_NODE]
    if not known:
        return "on no known node"
    return f"on {plural(len(known), 'pool')} {joined([f'`{shorten(pool)}`' for pool in known], _SHOWN)}"


def _is_pool(name: str) -> bool:
    return name not in (ANY_NODE, NO_KNOWN_NODE)


class Where:
    """The pools of a group, by cluster."""

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
        return frozenset((cluster, pool) for cluster, names in self._pools.items() for pool in names if _is_pool(pool))

    def __str__(self) -> str:
        """`on pool a`, `on pools a, b of cluster x`, `on 30 pools of 3 clusters`; empty for one cluster as a whole."""
        return self.words()

    def words(self, *, any_node: bool = True) -> str:
        if not self._pools:
            return ""
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


_WEIGHTS = tuple(Weight)
_BY_POOLS = frozenset((RowKind.PRIVILEGE, RowKind.DISRUPTION))
_BY_COUNT = frozenset((RowKind.FINDING, RowKind.DEPARTURE, RowKind.ACTION))
_AS_FOUND = frozenset((RowKind.OBJECT, RowKind.SELF_GRANT, RowKind.ADMITTED))


class Group:
    """Rows that are one sentence. Without `nodes`, what is on any node or on unknown ones is not said to be there."""

    def __init__(self, rows: Iterable[Row], fleet: Fleet, *, nodes: bool = True) -> None:
        self.rows = tuple(rows)
        self.first = self.rows[0]
        self.where, self.gone_from = Where(fleet), Where(fleet)
        for row in self.rows:
            if row.cluster and row.pools is not None:
                self.where.add(row.cluster, row.pools if nodes else filter(_is_pool, row.pools))
            if row.cluster and row.pools_before is not None:
                self.gone_from.add(row.cluster, row.pools_before)

    @property
    def clusters(self) -> tuple[str, ...]:
        return self.where.clusters or self.gone_from.clusters

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.name for row in self.rows))

    @property
    def places(self) -> tuple[Location, ...]:
        return tuple(dict.fromkeys(row.place for row in self.rows if row.place is not None))

    @property
    def count(self) -> int:
        return sum(row.count for row in self.rows)

    @property
    def order(self) -> tuple[object, ...]:
        """What a person chose first, then what weighs more, then by rank, then what is in more places."""
        kind = self.first.kind
        if kind in _BY_POOLS:
            size = len(self.where.pools)
        elif kind in _BY_COUNT:
            size = self.count
        else:
            size = 0 if kind in _AS_FOUND else len(self.clusters)
        return self.first.by, _WEIGHTS.index(self.first.weight), self.first.rank, -size, self.first.tie


def grouped(rows: Iterable[Row], fleet: Fleet) -> tuple[Group, ...]:
    """Rows by kind and key, in the order of reading."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault((row.kind, *row.key), []).append(row)
    return tuple(sorted((Group(alike, fleet) for alike in found.values()), key=lambda group: group.order))
