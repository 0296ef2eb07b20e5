"""What the containers of a cluster may do more and less after a change.

A pool, a driver object or a DaemonSet with another name is still the one that it was: what it may do is compared with
what it might do under the old name.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.causes import Causes
from poolsmith.change.diff.change_report import PrivilegeChange
from poolsmith.change.diff.driver_pods import is_driver
from poolsmith.change.diff.phrases import change_words
from poolsmith.fleet.plan.origin import Derived, FromProfile, profile_inputs
from poolsmith.guard.ledger.grants.matching import family_of
from poolsmith.guard.ledger.ledger import Ledger, LedgerLine
from poolsmith.guard.ledger.ledger_delta import ChangeKind, delta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.ledger import LineOrigin
    from poolsmith.guard.ledger.ledger_delta import Change


_NOTHING = Ledger()
_MORE = (ChangeKind.ADDED, ChangeKind.WIDENED, ChangeKind.MOVED)


def privilege_changes(
    before: SeenCluster | None,
    after: SeenCluster | None,
    grants: GrantBook | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[PrivilegeChange, ...]:
    """The worst reach first; at the same reach what is more before what is less.

    `grants` are those that judge; None: none are kept, and nobody can say whether something is granted. `renamed` are
    new names of pools by old ones.
    """
    names = dict(renamed or {})
    causes = Causes(before=before, after=after, renamed=names)
    old = _renamed_ledger(before, after, names) if before is not None else _NOTHING
    new = after.prediction.ledger if after is not None else _NOTHING
    is_granted = _granted(after, grants)
    found = [
        PrivilegeChange(
            change=change,
            words=change_words(change),
            place=_place(change, before, after, causes),
            granted=is_granted(change) if change.kind in _MORE and change.pools_after else None,
        )
        for change in delta(old, new).changes
    ]
    kinds = tuple(ChangeKind)
    return tuple(sorted(found, key=lambda item: (item.change.reach, kinds.index(item.change.kind))))


def _renamed_ledger(before: SeenCluster, after: SeenCluster | None, renamed: Mapping[str, str]) -> Ledger:
    """What was held, under the names that pools and workloads have now."""
    ledger = before.prediction.ledger
    twins = _twins(before, after, renamed)
    twins = _left_behind(before, after, twins, renamed) | twins
    siblings = _siblings(before, after, twins, renamed)
    if not twins and not renamed and not siblings:
        return ledger
    held = [
        LedgerLine(
            renamed.get(line.pool, line.pool),
            twins.get((line.namespace, line.workload), line.workload),
            line.container,
            line.privilege,
            line.reach,
            (),
            line.namespace,
        )
        for line in ledger.lines
    ]
    held += [
        line._replace(workload=name)
        for line in held
        for name in siblings.get((line.namespace, line.workload, line.pool), ())
    ]
    return Ledger.of(held, ledger.unknown)


def _left_behind(
    before: SeenCluster, after: SeenCluster | None, twins: Mapping[tuple[str, str], str], renamed: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """Driver pods for a kernel or system that leaves its pools, with those that the same object has there still."""
    if after is None:
        return {}
    old, new = before.prediction.shared.made, after.prediction.shared.made
    found: dict[tuple[str, str], str] = {}
    stay = [(key, item) for key, item in new.items() if key in old and is_driver(item)]
    for key, pools in before.prediction.ledger.landing.items() if stay else ():
        item, namespace = old.get(key), key.partition("/")[0]
        if item is None or key in new or not is_driver(item) or (namespace, item.workload) in twins:
            continue
        where = {renamed.get(pool, pool) for pool in pools}
        for name, kin in stay:
            if kin.through == item.through and where.issubset(after.prediction.ledger.landing.get(name, ())):
                found[namespace, item.workload] = kin.workload
    return found


def _siblings(
    before: SeenCluster, after: SeenCluster | None, twins: Mapping[tuple[str, str], str], renamed: Mapping[str, str]
) -> dict[tuple[str, str, str], list[str]]:
    """Driver pods for one more kernel or system of a pool, by those that the same object brings there already: what
    these may do on the pool, those may do on its nodes of the other system."""
    if after is None:
        return {}
    old, new = before.prediction.shared.made, after.prediction.shared.made
    come = {
        key: item
        for key, item in new.items()
        if key not in old and item.workload not in twins.values() and is_driver(item)
    }
    found: dict[tuple[str, str, str], list[str]] = {}
    for key, pools in before.prediction.ledger.landing.items() if come else ():
        kin = old.get(key)
        if kin is None or not is_driver(kin):
            continue
        there = {renamed.get(pool, pool) for pool in pools}
        for name, item in come.items():
            if item.through == kin.through:
                for pool in there.intersection(after.prediction.ledger.landing.get(name, ())):
                    found.setdefault((key.partition("/")[0], kin.workload, pool), []).append(item.workload)
    return found


def _twins(before: SeenCluster, after: SeenCluster | None, renamed: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Workloads that are gone, with those that stand in their place: alike but for generated parts of the name or the
    pool's name in it, and on a pool in common."""
    if after is None:
        return {}
    old, new = before.prediction.shared.made, after.prediction.shared.made
    gone = {key: pools for key, pools in before.prediction.ledger.landing.items() if key not in new}
    come = {key: pools for key, pools in after.prediction.ledger.landing.items() if key not in old}
    by_family: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for key in come:
        made = new[key]
        by_family[key.partition("/")[0], str(made.body["kind"]), family_of(made)].append(key)
    found: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for key, pools in sorted(gone.items()):
        made = old[key]
        namespace, kind = key.partition("/")[0], str(made.body["kind"])
        where = {renamed.get(pool, pool) for pool in pools}
        families = {family_of(made), *(made.name.replace(was, now) for was, now in renamed.items())}
        likely = [
            twin
            for family in sorted(families)
            for twin in by_family.get((namespace, kind, family), ())
            if twin not in taken and not where.isdisjoint(come[twin])
        ]
        if likely:
            best = max(likely, key=lambda twin: (len(where & set(come[twin])), twin))
            taken.add(best)
            found[namespace, made.workload] = new[best].workload
    return found


def _granted(after: SeenCluster | None, grants: GrantBook | None) -> Callable[[Change], bool | None]:
    if after is None or grants is None:
        return lambda _: None
    repositories = grants.repositories(after.prediction.installation.made, after.plan.cluster.spec.registry.mirrors)
    given = grants.of_cluster(after.plan.name)

    def granted(change: Change) -> bool:
        repository = repositories.get((change.namespace, change.workload, change.container), "")
        privilege = change.new
        assert privilege is not None, "asked only of what is new"
        lines = (
            LedgerLine(pool, change.workload, change.container, privilege, change.reach, namespace=change.namespace)
            for pool in change.pools_after
        )
        return all(grants.allows(line, repository, given) for line in lines)

    return granted


def _place(change: Change, before: SeenCluster | None, after: SeenCluster | None, causes: Causes) -> Location | None:
    """The line that causes it; of what is gone the line that did, where it still stands."""
    is_new = bool(change.pools_after)
    seen, pools = (after, change.pools_after) if is_new else (before, change.pools_before)
    privilege = change.new if is_new else change.old
    key = f"{change.namespace}/{change.workload}"
    if seen is None or privilege is None or key not in seen.prediction.shared.made:
        return causes.of_lines(())
    first = pools[0] if is_new else causes.old_name(pools[0])
    line = LedgerLine(first, change.workload, change.container, privilege, change.reach, namespace=change.namespace)
    lines = tuple(_profile_lines(seen.prediction.origins_of(line)))
    made = seen.prediction.shared.made[key]
    return causes.of_lines(lines) or causes.of_workload(made, pools) or causes.standing(lines)


def _profile_lines(origins: Iterable[LineOrigin]) -> Iterator[FromProfile]:
    for origin in origins:
        if isinstance(origin, (FromProfile, Derived)):
            yield from profile_inputs(origin)
