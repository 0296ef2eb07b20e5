"""Privileges that come and go, told once for all workloads, pools and clusters that are alike.

Rights of the API come in hundreds: verbs of one resource are told together, and resources with the same verbs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import Point, Weight, Where
from poolsmith.change.diff.privilege_diff import may
from poolsmith.core.diagnostics.message_text import joined, shorten
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.privilege import CLUSTER, CORE_GROUP, NON_RESOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ClusterDiff, PrivilegeChange
    from poolsmith.change.diff.change_sections import Fleet
    from poolsmith.guard.ledger.ledger_delta import Change
    from poolsmith.guard.ledger.privilege import Privilege

    _Keyed = tuple[tuple[object, ...], PrivilegeChange, tuple[str, ...], int]
    """What alike changes have in common, the worst of them, verbs and resources of a right, and how many it tells."""

_RBAC = "rbac"
_FEW_WORKLOADS, _FEW_RESOURCES = 2, 4
_NO_GRANT = "; no grant allows it"


@record
class PrivilegeCount:
    """How much more or less: privileges on nodes and rights of the API, each counted once.

    `judged`: changes of which it is known whether a grant allows them; `ungranted`: those that none allows.
    """

    on_nodes: int
    in_api: int
    pools: int
    judged: int
    ungranted: int


def gains(change: Change) -> bool:
    """Whether something may be done afterwards, somewhere, that might not be done before."""
    return change.kind in (ChangeKind.ADDED, ChangeKind.WIDENED) or (
        change.kind is ChangeKind.MOVED and bool(change.pools_after)
    )


def privilege_points(clusters: Iterable[ClusterDiff], fleet: Fleet, *, more: bool) -> tuple[Point, ...]:
    """Those gained (`more`) or those lost, the worst reach first."""
    groups: dict[tuple[object, ...], _Group] = {}
    for cluster in clusters:
        chosen = [item for item in cluster.privileges if gains(item.change) is more]
        for key, item, rights, count in (*_plain(chosen), *_rights(chosen)):
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(item, rights, fleet)
            group.add(cluster.name, item, count)
    found = [(group.reach, -len(group.where.pools), group.point()) for group in groups.values()]
    return tuple(point for _, _, point in sorted(found, key=lambda item: (item[2].weight.rank, *item[:2])))


def privilege_count(clusters: Iterable[ClusterDiff], *, more: bool) -> PrivilegeCount:
    on_nodes: set[object] = set()
    in_api: set[object] = set()
    pools: set[tuple[str, str]] = set()
    judged = ungranted = 0
    for cluster in clusters:
        for item in cluster.privileges:
            change = item.change
            if gains(change) is not more:
                continue
            what = (change.new or change.old) if more else (change.old or change.new)
            assert what is not None, "a change has one of them"
            if what.name == _RBAC:
                in_api.add(what)
            else:
                on_nodes.add(what)
                pools |= {(cluster.name, pool) for pool in (change.pools_after if more else change.pools_before)}
            judged += item.granted is not None
            ungranted += item.granted is False
    return PrivilegeCount(
        on_nodes=len(on_nodes), in_api=len(in_api), pools=len(pools), judged=judged, ungranted=ungranted
    )


def _plain(items: Iterable[PrivilegeChange]) -> Iterator[_Keyed]:
    for item in items:
        change = item.change
        if _is_right(change):
            continue
        sides = bool(change.pools_before), bool(change.pools_after)
        yield (change.kind, change.old, change.new, change.container, item.granted, sides), item, (), 1


def _rights(items: Iterable[PrivilegeChange]) -> Iterator[_Keyed]:
    """One for each workload, scope and set of verbs, with the resources that it is about."""
    verbs: dict[tuple[object, ...], dict[tuple[str, str], dict[str, PrivilegeChange]]] = defaultdict(dict)
    for item in items:
        change = item.change
        if not _is_right(change):
            continue
        group, resource, verb, scope, name = _shown(change).arguments
        sides = bool(change.pools_before), bool(change.pools_after)
        who = change.namespace, change.workload, change.container
        holder: tuple[object, ...] = (change.kind, who, scope, name, item.granted, sides)
        verbs[holder].setdefault((group, resource), {})[verb] = item
    for holder, resources in verbs.items():
        alike: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for one, found in resources.items():
            alike[tuple(sorted(found))].append(one)
        for words, named in alike.items():
            told = tuple(_resource(*one) for one in sorted(named))
            worst = min((resources[one][verb] for one in named for verb in words), key=lambda item: item.change.reach)
            key = (holder[0], *holder[2:], words, told)
            yield key, worst, (", ".join(words), *told), len(words) * len(named)


def _is_right(change: Change) -> bool:
    return _shown(change).name == _RBAC and change.kind not in (ChangeKind.WIDENED, ChangeKind.NARROWED)


def _shown(change: Change) -> Privilege:
    privilege = change.new or change.old
    assert privilege is not None, "a change has one of them"
    return privilege


def _resource(group: str, resource: str) -> str:
    if group == NON_RESOURCE:
        return f"`{shorten(resource)}` of the API server"
    what = "every resource" if resource == "*" else f"`{shorten(resource)}`"
    if group == CORE_GROUP:
        return what
    return f"{what} of every group" if group == "*" else f"{what} of {shorten(group)}"


class _Group:
    """What is alike. `rights` are verbs and then resources; empty for a privilege of a node."""

    def __init__(self, first: PrivilegeChange, rights: tuple[str, ...], fleet: Fleet) -> None:
        self.first = first
        self.rights = rights
        self.workloads: dict[str, None] = {}
        self.where = Where(fleet)
        self.gone_from = Where(fleet)
        self.places: dict[object, None] = {}
        self.reach = first.change.reach
        self.count = 0

    def add(self, cluster: str, item: PrivilegeChange, count: int) -> None:
        change = item.change
        self.workloads[change.workload] = None
        self.count += count
        lost = change.kind is ChangeKind.REMOVED
        if change.pools_after or not lost:
            self.where.add(cluster, change.pools_after)
        if lost or (change.kind is ChangeKind.MOVED and change.pools_before):
            self.gone_from.add(cluster, change.pools_before)
        self.reach = min(self.reach, change.reach)
        if item.place is not None:
            self.places[item.place] = None

    def point(self) -> Point:
        change = self.first.change
        more = gains(change)
        weight = Weight.PLAIN
        if more:
            weight = Weight.GRAVE if self.first.granted is False else Weight.NOTABLE
        where = self.where if self.where.clusters else self.gone_from
        details = [] if len(self.workloads) <= _FEW_WORKLOADS else [f"workloads: {joined(self._workloads(), 50)}"]
        if len(self.rights) > _FEW_RESOURCES + 1:
            details.append(f"resources: {joined(self.rights[1:], 100)}")
        return Point(
            words=self._words() + (_NO_GRANT if self.first.granted is False else ""),
            weight=weight,
            clusters=where.clusters,
            places=tuple(self.places),  # type: ignore[arg-type]
            details=tuple(details),
            stands_for=self.count,
        )

    def _words(self) -> str:
        change = self.first.change
        what = self._what(_shown(change))
        at = _after_comma(self.where.said(any_node=not self.rights))
        gone = _after_comma(self.gone_from.said(any_node=not self.rights))
        match change.kind:
            case ChangeKind.ADDED:
                return f"{self._who()} may now {what}{at}"
            case ChangeKind.REMOVED:
                return f"{self._who()} may no longer {what}{gone}"
            case ChangeKind.WIDENED:
                return f"{self._who()} may now {what}; before only {_may(change.old)}{at}"
            case ChangeKind.NARROWED:
                return f"{self._who()} may now only {what}; before {_may(change.old)}{at}"
            case ChangeKind.MOVED:
                if not change.pools_before:
                    return f"{self._who()} may {what}{at} as well"
                if not change.pools_after:
                    return f"{self._who()} may {what} no longer{gone}, elsewhere it still may"
                return f"{self._who()} may {what}{at} now, and no longer{gone}"

    def _what(self, privilege: Privilege) -> str:
        if not self.rights:
            return may(privilege)
        verbs, *resources = self.rights
        _, _, _, scope, name = privilege.arguments
        doing = "do anything with" if verbs == "*" else verbs
        where = "in the whole cluster" if scope == CLUSTER else f"in namespace `{shorten(scope.removeprefix('ns/'))}`"
        only = f", only `{shorten(name)}`" if name else ""
        return f"{doing} {joined(resources, _FEW_RESOURCES)} {where}{only} (RBAC)"

    def _who(self) -> str:
        names = self._workloads()
        who = names[0] if len(names) == 1 else f"{len(names)} workloads ({joined(names, _FEW_WORKLOADS)})"
        container = self.first.change.container
        return f"{who} container `{shorten(container)}`" if container else who

    def _workloads(self) -> list[str]:
        return [f"`{shorten(name.partition('/')[2])}`" for name in sorted(self.workloads)]


def _may(privilege: Privilege | None) -> str:
    return may(privilege) if privilege is not None else "nothing"


def _after_comma(text: str) -> str:
    return f", {text}" if text else ""
