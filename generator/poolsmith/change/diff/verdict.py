"""One line of what matters about a change: what nobody has granted, what is disturbed, what comes and goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.rings_at_once import disturbed_rings
from poolsmith.change.diff.told_departures import departure_phrases
from poolsmith.change.diff.told_privileges import privilege_count
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.listing import counted, plural
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, Disruption
    from poolsmith.change.diff.told_privileges import PrivilegeCount
    from poolsmith.core.diagnostics import Diagnostic


def verdict(report: ChangeReport) -> str:
    """Phrases, what matters most first; never empty."""
    phrases = [
        *departure_phrases(report.clusters),
        *_unknown(report),
        *_own(report),
        *_others(report.clusters),
        *_findings(report.new_findings),
        *_privileges(report.clusters),
        *_disturbed(report.clusters),
        *_rings(report.clusters),
        *_fleet(report.clusters),
        *_drift(report.clusters),
        *_fixed(report.fixed_findings),
    ]
    return "; ".join(phrases) or _quiet(report)


def _quiet(report: ChangeReport) -> str:
    if report.is_empty:
        return "nothing changes: no cluster is given anything else than before"
    if not any(_is_delivered(cluster) for cluster in report.clusters):
        return "nothing that is delivered changes: profiles say more or other things, and come to the same"
    return "no privilege more, and nothing restarts"


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


def _unknown(report: ChangeReport) -> Iterator[str]:
    count = len(report.unknown) + sum(len(item.unknown) for item in report.clusters)
    if count:
        yield "not everything can be told"


def _own(report: ChangeReport) -> Iterator[str]:
    wider = sum(item.widens for item in report.self_grants)
    if wider:
        yield f"it allows itself {counted(wider, 'thing')}"


def _others(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    found = [(cluster.name, item) for cluster in clusters for item in cluster.others]
    pools = {(name, item.pool) for name, item in found if item.stops and not item.acknowledged_by}
    if pools:
        words = "pool that is not changed loses" if len(pools) == 1 else "pools that are not changed lose"
        yield f"{len(pools):,} {words} what workloads ask for"


def _findings(found: Iterable[Diagnostic]) -> Iterator[str]:
    open_ones = [item.severity for item in found if not item.is_waived]
    for severity, word in ((Severity.ERROR, "new error"), (Severity.WARNING, "new warning")):
        if count := open_ones.count(severity):
            yield counted(count, word)


def _fixed(found: Iterable[Diagnostic]) -> Iterator[str]:
    count = sum(item.severity is not Severity.NOTE for item in found)
    if count:
        yield f"{counted(count, 'finding')} fixed"


def _privileges(clusters: tuple[ClusterDiff, ...]) -> Iterator[str]:
    for more, word in ((True, "more"), (False, "fewer")):
        count = privilege_count(clusters, more=more)
        parts = []
        if count.on_nodes:
            on = f" on {counted(count.pools, 'pool')}" if count.pools else ""
            parts.append(f"{counted(count.on_nodes, 'privilege')} {word}{on}")
        if count.in_api:
            parts.append(f"{counted(count.in_api, 'right')} {word} in the API")
        if parts:
            yield " and ".join(parts) + _granted(count)


def _granted(count: PrivilegeCount) -> str:
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
        yield f"{counted(len(recreated), 'object')} {'is' if len(recreated) == 1 else 'are'} recreated"
    if mig := by_kind[DisruptionKind.MIG]:
        pools = {(cluster, pool) for cluster, item in mig for pool in item.pools}
        yield f"GPUs of {counted(len(pools), 'pool')} are partitioned anew"
    if restarts := by_kind[DisruptionKind.RESTART]:
        names = {item.what for _, item in restarts}
        yield f"{counted(len(names), 'workload')} {'restarts' if len(names) == 1 else 'restart'}"
    if stopped := by_kind[DisruptionKind.STOPPED]:
        names = {item.what for _, item in stopped}
        yield f"{counted(len(names), 'workload')} {'stops' if len(names) == 1 else 'stop'}"


def _rings(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    if len(rings := disturbed_rings(clusters)) > 1:
        yield f"{counted(len(rings), 'ring')} at once"


def _drivers(found: list[tuple[str, Disruption]]) -> str:
    pools = {(cluster, pool) for cluster, item in found for pool in item.pools}
    counts = [item.waves.nodes if item.waves is not None else None for _, item in found]
    known = [count for count in counts if count is not None]
    if known and len(known) == len(counts):
        what = f"the drivers of {counted(sum(known), 'node')} are replaced"
    else:
        what = f"the drivers of {counted(len(pools), 'pool')} are replaced"
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


def _fleet(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    clusters = tuple(clusters)
    for word, standings in (
        ("cluster", [item.standing for item in clusters]),
        (
            "pool",
            [pool.standing for item in clusters if item.standing is not Standing.REMOVED for pool in item.pools],
        ),
    ):
        for standing in (Standing.REMOVED, Standing.RENAMED, Standing.ADDED):
            if count := standings.count(standing):
                yield f"{count:,} {plural(count, word)} {standing.value}"


def _drift(clusters: Iterable[ClusterDiff]) -> Iterator[str]:
    count = sum(not item.cured and item.standing is not Standing.REMOVED for one in clusters for item in one.drift)
    if count:
        yield f"{counted(count, 'field')} will differ for ever"
