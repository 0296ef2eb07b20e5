"""The one line of what matters most in a change: counts by sign, the gravest first.

`+` is what may be done or is there from now on and was not before, `-` what no longer is, `~` what is replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.actions import beyond_applying
from poolsmith.change.delivery.outcomes import DepartureOutcome, Verb
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.privilege_words import gains
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, joined, plural, shorten
from poolsmith.core.record import record
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, Disruption
    from poolsmith.core.diagnostics import Diagnostic

_OUTCOMES = tuple(DepartureOutcome)
_FEW_CODES = 4
_QUIET = frozenset((DisruptionKind.LEFT, DisruptionKind.STARTED, DisruptionKind.STOPPED))


def disturbed_rings(clusters: Iterable[ClusterDiff]) -> dict[str, list[ClusterDiff]]:
    """The rings, by name, whose clusters have something replaced, restarted or lost."""
    found: dict[str, list[ClusterDiff]] = {}
    for cluster in clusters:
        if cluster.ring and any(item.kind not in _QUIET for item in cluster.disruptions):
            found.setdefault(cluster.ring, []).append(cluster)
    return dict(sorted(found.items()))


def verdict(report: ChangeReport) -> str:
    """Phrases, what matters most first; never empty."""
    return "; ".join((*effects(report), *_rings(report.clusters), *_fleet(report.clusters))) or _quiet(report)


def effects(report: ChangeReport, *, privileges: bool = True, codes: bool = False) -> Iterator[str]:
    """What comes of the change, or of that part of it which the report holds. `codes`: of the rules of findings."""
    yield from _departures(report.clusters)
    yield from _engine(report.clusters)
    yield from _unknown(report)
    yield from _own(report)
    yield from _others(report.clusters)
    yield from _findings(report.new_findings, codes=codes)
    if privileges:
        yield from privilege_effects(report.clusters)
    yield from _disturbed(report.clusters)
    yield from _drift(report.clusters)
    yield from _fixed(report.fixed_findings)


def _quiet(report: ChangeReport) -> str:
    if report.is_empty:
        return "nothing changes: no cluster is given anything else than before"
    if not any(_is_delivered(cluster) for cluster in report.clusters):
        return "nothing that is delivered changes: the profiles changed, the output did not"
    return "no new privileges, no restarts"


def _is_delivered(cluster: ClusterDiff) -> bool:
    """Whether a cluster, or anybody who watches it, is given anything else."""
    parts = (
        cluster.departures,
        cluster.privileges,
        cluster.disruptions,
        cluster.images,
        cluster.values,
        cluster.objects,
        cluster.drift,
    )
    return cluster.standing is not Standing.CHANGED or any(parts)


def _departures(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    """For the one line of what matters: the worst outcome, on how many clusters, and how many objects leave."""
    found = [(cluster.name, item) for cluster in clusters for item in cluster.departures]
    if not found:
        return
    worst = min((item for _, item in found), key=lambda item: _OUTCOMES.index(item.outcome)).outcome
    names = sorted({name for name, item in found if item.outcome is worst})
    where = f"on cluster `{shorten(names[0])}`" if len(names) == 1 else f"on {len(names):,} clusters"
    verb = "leaves the delivery or moves" if len(found) == 1 else "leave the delivery or move"
    first = min((item for _, item in found if item.outcome is worst), key=lambda item: (not item.is_chart, item.name))
    yield f"it {first.headline} {where}: {counted(len(found), 'object')} {verb}"


_ENGINE = {
    Verb.REFUSE: ("thing is refused", "things are refused"),
    Verb.REPLACE: ("thing is replaced", "things are replaced"),
    Verb.WAIT: ("object of the delivery is suspended", "objects of the delivery are suspended"),
    Verb.ADOPT: ("thing gets another owner", "things get another owner"),
    Verb.LEAVE: ("object is left behind", "objects are left behind"),
}


def _engine(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    found = {
        (item.verb, cluster.name, item.kind, item.namespace, item.name)
        for cluster in clusters
        for item in beyond_applying(cluster.delivery, cluster.departures)
    }
    for verb, (one, many) in _ENGINE.items():
        if count := sum(item[0] is verb for item in found):
            yield f"{count:,} {one if count == 1 else many}"


def _unknown(report: ChangeReport) -> Iterator[str]:
    count = len(report.unknown) + sum(len(item.unknown) for item in report.clusters)
    if count:
        yield "some effects are unknown"


def _own(report: ChangeReport) -> Iterator[str]:
    wider = sum(item.widens for item in report.self_grants)
    if wider:
        yield f"the change grants itself {counted(wider, 'permission')}"


def _others(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    found = [(cluster.name, item) for cluster in clusters for item in cluster.others]
    pools = {(name, item.pool) for name, item in found if item.stops and not item.acknowledged_by}
    if pools:
        words = "pool that is not changed loses" if len(pools) == 1 else "pools that are not changed lose"
        yield f"{len(pools):,} {words} what workloads ask for"


def _findings(found: Iterable[Diagnostic], *, codes: bool) -> Iterator[str]:
    found = tuple(found)
    for severity, word in ((Severity.ERROR, "new error"), (Severity.WARNING, "new warning")):
        if alike := [item.code for item in found if not item.is_waived and item.severity is severity]:
            named = f" ({joined(dict.fromkeys(sorted(alike)), _FEW_CODES)})" if codes else ""
            yield f"{counted(len(alike), word)}{named}"


def _fixed(found: Iterable[Diagnostic]) -> Iterator[str]:
    count = sum(item.severity is not Severity.NOTE for item in found)
    if count:
        yield f"{counted(count, 'finding')} fixed"


def privilege_effects(clusters: tuple[ClusterDiff, ...]) -> Iterator[str]:
    for more, sign in ((True, "+"), (False, "-")):
        count = _privilege_count(clusters, more=more)
        parts = []
        if count.on_nodes:
            on = f" on {counted(count.pools, 'pool')}" if count.pools else ""
            parts.append(f"{sign}{counted(count.on_nodes, 'privilege')}{on}")
        if count.in_api:
            parts.append(f"{sign}{counted(count.in_api, 'right')} in the API")
        if parts:
            yield " and ".join(parts) + _granted(count)


def _granted(count: _PrivilegeCount) -> str:
    if not count.ungranted:
        return ""
    return ", without a grant" if count.ungranted == count.judged else ", some of them without a grant"


def _disturbed(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    found = [(cluster.name, item) for cluster in clusters for item in cluster.disruptions]
    by_kind = {kind: [entry for entry in found if entry[1].kind is kind] for kind in DisruptionKind}
    if drivers := by_kind[DisruptionKind.DRIVER]:
        yield _drivers(drivers)
    if lost := by_kind[DisruptionKind.LOST]:
        yield f"{counted(len(lost), 'workload')} no longer {'gets' if len(lost) == 1 else 'get'} what was asked for"
    if recreated := by_kind[DisruptionKind.RECREATED]:
        yield f"~{counted(len(recreated), 'object')} recreated"
    if mig := by_kind[DisruptionKind.MIG]:
        pools = {(cluster, pool) for cluster, item in mig for pool in item.pools}
        yield f"~{counted(len(pools), 'pool')} {'gets' if len(pools) == 1 else 'get'} a new MIG layout"
    if restarts := by_kind[DisruptionKind.RESTART]:
        names = {item.what for _, item in restarts}
        yield f"~{counted(len(names), 'workload')} {'restarts' if len(names) == 1 else 'restart'}"
    if stopped := by_kind[DisruptionKind.STOPPED]:
        names = {item.what for _, item in stopped}
        yield f"-{counted(len(names), 'workload')}"


def _rings(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    if len(rings := disturbed_rings(clusters)) > 1:
        yield f"{counted(len(rings), 'ring')} at once"


def _drivers(found: list[tuple[str, Disruption]]) -> str:
    pools = {(cluster, pool) for cluster, item in found for pool in item.pools}
    counts = [item.waves.nodes if item.waves is not None else None for _, item in found]
    known = [count for count in counts if count is not None]
    if known and len(known) == len(counts):
        what = f"~{counted(sum(known), 'node')}: drivers replaced"
    else:
        what = f"~{counted(len(pools), 'pool')}: drivers replaced"
    waves = [item.waves.waves for _, item in found if item.waves is not None and item.waves.waves is not None]
    slow = [item for _, item in found if item.waves is not None and not item.waves.automatic]
    at_once = [item for _, item in found if item.waves is not None and item.waves.at_once == "all"]
    if slow:
        return f"{what}, not all by themselves"
    if at_once:
        return f"{what}, {'all' if len(at_once) == len(found) else 'some'} at once"
    if len(found) == 1 and waves:
        return f"{what} in {counted(waves[0], 'wave')}"
    return what


_OF_FLEETS = {Standing.REMOVED: "-{}", Standing.RENAMED: "{} renamed", Standing.ADDED: "+{}"}


def _fleet(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    clusters = tuple(clusters)
    for word, standings in (
        ("cluster", [item.standing for item in clusters]),
        (
            "pool",
            [pool.standing for item in clusters if item.standing is not Standing.REMOVED for pool in item.pools],
        ),
    ):
        for standing, phrase in _OF_FLEETS.items():
            if count := standings.count(standing):
                yield phrase.format(f"{count:,} {plural(count, word)}")


def _drift(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    count = sum(not item.cured and item.standing is not Standing.REMOVED for one in clusters for item in one.drift)
    if count:
        yield f"{counted(count, 'field')} will always show as out of sync"


@record
class _PrivilegeCount:
    """How much more or less: privileges on nodes and rights of the API, each counted once.

    `judged`: changes of which it is known whether a grant allows them; `ungranted`: those that none allows.
    """

    on_nodes: int
    in_api: int
    pools: int
    judged: int
    ungranted: int


def _privilege_count(clusters: Iterable[ClusterDiff], *, more: bool) -> _PrivilegeCount:
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
            if what.name == "rbac":
                in_api.add(what)
            else:
                on_nodes.add(what)
                pools |= {(cluster.name, pool) for pool in (change.pools_after if more else change.pools_before)}
            judged += item.granted is not None
            ungranted += item.granted is False
    return _PrivilegeCount(
        on_nodes=len(on_nodes), in_api=len(in_api), pools=len(pools), judged=judged, ungranted=ungranted
    )
