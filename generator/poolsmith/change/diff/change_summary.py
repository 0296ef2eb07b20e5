"""A whole change as it is read: its sections, one line of what matters most, and one of what was compared.

Rows, their grouping and their phrases are made elsewhere; every format shows this view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.delivery.actions import beyond_applying
from poolsmith.change.delivery.outcomes import DepartureOutcome, Verb
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.change_sections import ChangeView, Part, Point, Section, Weight, scope
from poolsmith.change.diff.phrases import FEW_FOLDED, FOLDED, VERBS, folded_point, point_of
from poolsmith.change.diff.privilege_words import gains
from poolsmith.change.diff.report_rows import rows_of
from poolsmith.change.diff.rows import Group, Row, RowKind, fleet_of, grouped
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, joined, listed, plural, shorten
from poolsmith.core.record import record
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, Disruption
    from poolsmith.change.diff.rows import Fleet
    from poolsmith.core.diagnostics import Diagnostic

_FEW, _FEW_RINGS, _FEW_RULES, _FEW_IMAGES = 2, 3, 6, 8


def change_view(report: ChangeReport) -> ChangeView:
    """Sections without points are left out."""
    fleet = fleet_of(report)
    sections = tuple(section for part in Part if (section := _section(part, report, fleet)) is not None)
    weights = [section.weight for section in sections]
    return ChangeView(
        weight=min(weights, key=lambda item: item.rank, default=Weight.PLAIN),
        verdict=verdict(report),
        scope=scope(report),
        sections=sections,
    )


def _section(part: Part, report: ChangeReport, fleet: Fleet) -> Section | None:
    rows = tuple(rows_of(part, report))
    points = _points(grouped(rows, fleet), fleet) if rows else ()
    if part is Part.DISRUPTION:
        points = (*ring_points(report.clusters), *points)
    return Section(part=part, points=points, in_short=_in_short(part, rows, points)) if points else None


def _points(groups: Sequence[Group], fleet: Fleet) -> tuple[Point, ...]:
    """Many restarts, starts or stops are one point, with each in its details."""
    by_standing: dict[str, list[Group]] = {}
    for group in groups:
        if group.first.kind is RowKind.DISRUPTION and group.first.standing in FOLDED:
            by_standing.setdefault(group.first.standing, []).append(group)
    folded = {standing: found for standing, found in by_standing.items() if len(found) > FEW_FOLDED}
    points = []
    for group in groups:
        alike = folded.get(group.first.standing) if group.first.kind is RowKind.DISRUPTION else None
        if alike is None:
            points.append(point_of(group))
        elif group is alike[0]:
            points.append(folded_point(alike, Group((row for one in alike for row in one.rows), fleet, nodes=False)))
    return tuple(points)


def _in_short(part: Part, rows: Sequence[Row], points: Sequence[Point]) -> str:
    if part is Part.IMAGES:
        names = sorted({row.name.rpartition("/")[2] for row in rows})
        return f"{counted(len(names), 'image')}: {joined([f'`{shorten(name)}`' for name in names], _FEW_IMAGES)}"
    if part is Part.OBJECTS:
        return _objects_in_short(rows)
    if part in (Part.NEW, Part.FIXED) and all(point.is_note for point in points):
        codes = dict.fromkeys(point.words.split(" ", 2)[1] for point in points)
        return f"{counted(len(rows), 'note')}: {joined(codes, _FEW_RULES)}"
    return joined([point.words for point in points], _FEW, "; ")


def _objects_in_short(rows: Sequence[Row]) -> str:
    """How many are added, removed and changed: those that are applied, and those that the operator makes."""
    phrases = []
    for made, of in ((False, "applied"), (True, "made by the operator")):
        standings = [row.standing for row in rows if row.item.made is made]
        counts = [f"{count:,} {VERBS[one]}" for one in Standing if (count := standings.count(one))]
        if counts:
            phrases.append(f"{', '.join(counts)} of those {of}")
    return "; ".join(phrases)


_OUTCOMES = tuple(DepartureOutcome)
_QUIET = frozenset((DisruptionKind.LEFT, DisruptionKind.STARTED, DisruptionKind.STOPPED))


def disturbed_rings(clusters: Iterable[ClusterDiff]) -> dict[str, list[ClusterDiff]]:
    """The rings, by name, whose clusters have something replaced, restarted or lost."""
    found: dict[str, list[ClusterDiff]] = {}
    for cluster in clusters:
        if cluster.ring and any(item.kind not in _QUIET for item in cluster.disruptions):
            found.setdefault(cluster.ring, []).append(cluster)
    return dict(sorted(found.items()))


def ring_points(clusters: Iterable[ClusterDiff]) -> Iterator[Point]:
    """One, where it is more than one ring."""
    rings = disturbed_rings(clusters)
    if len(rings) > 1:
        where = (
            f"`{ring}` ({listed((shorten(item.name) for item in found), _FEW_RINGS)})" for ring, found in rings.items()
        )
        places = dict.fromkeys(item.place for found in rings.values() for one in found for item in one.disruptions)
        yield Point(
            words=f"several rings are disturbed by one merge: {joined(where, len(rings))}; a version of the base, or a "
            "change for each ring, lets one ring go first",
            weight=Weight.NOTABLE,
            clusters=tuple(item.name for found in rings.values() for item in found),
            places=tuple(place for place in places if place is not None)[:_FEW_RINGS],
            stands_for=0,
        )


def verdict(report: ChangeReport) -> str:
    """Phrases, what matters most first; never empty."""
    phrases = [
        *_departures(report.clusters),
        *_engine(report.clusters),
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
        yield "not everything can be told"


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
        count = _privilege_count(clusters, more=more)
        parts = []
        if count.on_nodes:
            on = f" on {counted(count.pools, 'pool')}" if count.pools else ""
            parts.append(f"{counted(count.on_nodes, f'{word} privilege')}{on}")
        if count.in_api:
            parts.append(f"{counted(count.in_api, f'{word} right')} in the API")
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
        yield f"{counted(len(recreated), 'object')} {'is' if len(recreated) == 1 else 'are'} recreated"
    if mig := by_kind[DisruptionKind.MIG]:
        pools = {(cluster, pool) for cluster, item in mig for pool in item.pools}
        yield f"{counted(len(pools), 'pool')} {'gets' if len(pools) == 1 else 'get'} a new MIG layout"
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
