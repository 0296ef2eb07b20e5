"""What changed between two ledgers, each change once."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import Ledger, LedgerLine, line_order
from poolsmith.guard.ledger.privilege import covers, privilege_order, widens
from poolsmith.guard.ledger.reach import Reach, reach_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.guard.ledger.privilege import Privilege

_COMPARED = 250_000
"""Pairs of privileges of one name that are compared within a container; beyond, they are told as removed and added."""

_Holder = tuple[str, str, str]
_ByPool = dict[str, set["Privilege"]]
_Holdings = dict[_Holder, _ByPool]


class ChangeKind(StrEnum):
    """What gives more comes first."""

    ADDED = "added"
    WIDENED = "widened"
    MOVED = "moved"
    NARROWED = "narrowed"
    REMOVED = "removed"


_KINDS = tuple(ChangeKind)


@record
class Change:
    """A container loses the old privilege on the pools before, and gets the new one on the pools after.

    Moved: the privilege is the same. Widened and narrowed: the pools are. Added has no old one, removed no new one.
    """

    kind: ChangeKind
    namespace: str
    workload: str
    container: str
    old: Privilege | None
    new: Privilege | None
    pools_before: tuple[str, ...] = ()
    pools_after: tuple[str, ...] = ()

    @property
    def reach(self) -> Reach:
        """Of what is there after the change, else of what was there before."""
        privilege = self.new or self.old
        return Reach.NONE if privilege is None else reach_of(privilege)


@record(kw_only=False)
class LedgerDelta:
    """Changes: what gives more first, then the worst reach first. `unknown`: what could be told before, and no more."""

    changes: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes or self.unknown)

    def of_kind(self, kind: ChangeKind) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind is kind)

    @property
    def added(self) -> tuple[Change, ...]:
        return self.of_kind(ChangeKind.ADDED)

    @property
    def widened(self) -> tuple[Change, ...]:
        return self.of_kind(ChangeKind.WIDENED)

    @property
    def moved(self) -> tuple[Change, ...]:
        return self.of_kind(ChangeKind.MOVED)

    @property
    def removed(self) -> tuple[Change, ...]:
        return self.of_kind(ChangeKind.REMOVED)


def delta(old: Ledger, new: Ledger) -> LedgerDelta:
    """What `new` has that `old` had not, and the other way round. Origins are no privileges: they are not compared."""
    before, after = _holdings(old), _holdings(new)
    changes = [
        change
        for holder in before.keys() | after.keys()
        for change in _changes_of(holder, before.get(holder, {}), after.get(holder, {}))
    ]
    known = set(old.unknown)
    return LedgerDelta(
        tuple(sorted(changes, key=_change_order)), tuple(item for item in new.unknown if item not in known)
    )


def applied(old: Ledger, difference: LedgerDelta) -> Ledger:
    """The old ledger after the changes; lines that a change brings have no origins yet."""
    lines = {line_order(line): line for line in old.lines}
    for change in difference.changes:
        for line in _lines(change, change.old, change.pools_before):
            lines.pop(line_order(line), None)
    for change in difference.changes:
        for line in _lines(change, change.new, change.pools_after):
            lines.setdefault(line_order(line), line)
    return Ledger.of(lines.values(), (*old.unknown, *difference.unknown))


def _holdings(ledger: Ledger) -> _Holdings:
    found: _Holdings = defaultdict(lambda: defaultdict(set))
    for line in ledger.lines:
        found[line.namespace, line.workload, line.container][line.pool].add(line.privilege)
    return found


@record(frozen=False, kw_only=False)
class _Shift:
    """What one container loses, gains, and has in the place of something else: privileges with the pools."""

    lost: dict[Privilege, set[str]]
    gained: dict[Privilege, set[str]]
    replaced: dict[tuple[Privilege, Privilege], set[str]]


def _shift(before: _ByPool, after: _ByPool) -> _Shift:
    shift = _Shift(defaultdict(set), defaultdict(set), defaultdict(set))
    met: dict[tuple[frozenset[Privilege], frozenset[Privilege]], tuple[tuple[Privilege, Privilege], ...]] = {}
    for pool in before.keys() | after.keys():
        old, new = before.get(pool, set()), after.get(pool, set())
        gone, come = frozenset(old - new), frozenset(new - old)
        if (gone, come) not in met:
            met[gone, come] = tuple(_pairs(gone, come))
        pairs = met[gone, come]
        for pair in pairs:
            shift.replaced[pair].add(pool)
        for privilege in gone.difference(pair[0] for pair in pairs):
            shift.lost[privilege].add(pool)
        for privilege in come.difference(pair[1] for pair in pairs):
            shift.gained[privilege].add(pool)
    return shift


def _changes_of(holder: _Holder, before: _ByPool, after: _ByPool) -> Iterator[Change]:
    """Changes of one container: what is wider or narrower within a pool, then what is left of each pool."""
    shift = _shift(before, after)
    for (old, new), pools in shift.replaced.items():
        kind = ChangeKind.WIDENED if widens(old, new) else ChangeKind.NARROWED
        yield _change(holder, kind, old, new, pools, pools)
    held_before, held_after = _held(before), _held(after)
    for privilege in shift.lost.keys() | shift.gained.keys():
        pools_before, pools_after = shift.lost.get(privilege, ()), shift.gained.get(privilege, ())
        if privilege not in held_before:
            yield _change(holder, ChangeKind.ADDED, None, privilege, (), pools_after)
        elif privilege not in held_after:
            yield _change(holder, ChangeKind.REMOVED, privilege, None, pools_before, ())
        else:
            yield _change(holder, ChangeKind.MOVED, privilege, privilege, pools_before, pools_after)


def _held(by_pool: _ByPool) -> set[Privilege]:
    return {privilege for held in by_pool.values() for privilege in held}


def _change(
    holder: _Holder,
    kind: ChangeKind,
    old: Privilege | None,
    new: Privilege | None,
    pools_before: Iterable[str],
    pools_after: Iterable[str],
) -> Change:
    namespace, workload, container = holder
    return Change(
        kind=kind,
        namespace=namespace,
        workload=workload,
        container=container,
        old=old,
        new=new,
        pools_before=tuple(sorted(pools_before)),
        pools_after=tuple(sorted(pools_after)),
    )


def _pairs(gone: Iterable[Privilege], come: Iterable[Privilege]) -> Iterator[tuple[Privilege, Privilege]]:
    """Which of the new privileges stands in the place of which old one: what is wider first, the nearest of several."""
    for old, new in _by_name(gone, come):
        if len(old) * len(new) > _COMPARED:
            continue
        left = list(new)
        unpaired: list[Privilege] = []
        for privilege in old:
            wider = _nearest(covers, (item for item in left if covers(item, privilege)))
            if wider is None:
                unpaired.append(privilege)
            else:
                left.remove(wider)
                yield privilege, wider
        for privilege in unpaired:
            narrower = _nearest(_is_covered, (item for item in left if covers(privilege, item)))
            if narrower is not None:
                left.remove(narrower)
                yield privilege, narrower


def _by_name(gone: Iterable[Privilege], come: Iterable[Privilege]) -> Iterator[tuple[list[Privilege], list[Privilege]]]:
    new = {name: list(group) for name, group in groupby(sorted(come, key=privilege_order), lambda item: item.name)}
    for name, group in groupby(sorted(gone, key=privilege_order), lambda item: item.name):
        yield list(group), new.get(name, [])


def _is_covered(wanted: Privilege, granted: Privilege) -> bool:
    return covers(granted, wanted)


def _nearest(gives_way: Callable[[Privilege, Privilege], bool], options: Iterable[Privilege]) -> Privilege | None:
    """Of several the one that gives way to no other."""
    nearest: Privilege | None = None
    for item in options:
        if nearest is None or gives_way(nearest, item):
            nearest = item
    return nearest


def _lines(change: Change, privilege: Privilege | None, pools: Iterable[str]) -> Iterator[LedgerLine]:
    if privilege is None:
        return
    for pool in pools:
        yield LedgerLine(
            pool, change.workload, change.container, privilege, reach_of(privilege), namespace=change.namespace
        )


def _change_order(change: Change) -> tuple[object, ...]:
    privileges = tuple(
        ("", ()) if privilege is None else privilege_order(privilege) for privilege in (change.old, change.new)
    )
    return (
        _KINDS.index(change.kind),
        change.reach,
        change.namespace,
        change.workload,
        change.container,
        privileges,
        change.pools_before,
        change.pools_after,
    )
