"""Whether a change disturbs clusters of several rings in one merge: then no ring tells anything to the next.

One line of what matters about a change: what nobody has granted, what is disturbed, what comes and goes.

A whole change as it is read: what is the same for many clusters is told once, what matters first.

Every format shows these sections; none groups or words anything of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_findings import (
    admitted_points,
    finding_points,
    notes_in_short,
    self_grant_points,
    unknown_points,
)
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.change_sections import Part, Point, Section, Told, Weight, fleet_of, scope
from poolsmith.change.diff.content_points import (
    drift_points,
    field_points,
    fleet_points,
    image_points,
    images_in_short,
    object_points,
    objects_in_short,
    other_pool_points,
)
from poolsmith.change.diff.departures import departure_phrases, departure_points
from poolsmith.change.diff.disruption import disruption_points
from poolsmith.change.diff.privilege_points import privilege_count, privilege_points
from poolsmith.change.diff.release_changes import release_points
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, joined, listed, plural, shorten
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff, Disruption
    from poolsmith.change.diff.change_sections import Fleet
    from poolsmith.change.diff.privilege_points import PrivilegeCount
    from poolsmith.core.diagnostics import Diagnostic


_QUIET = frozenset((DisruptionKind.LEFT, DisruptionKind.STARTED, DisruptionKind.STOPPED))
_RINGS_AT_ONCE_FEW = 3


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
            f"`{ring}` ({listed((shorten(item.name) for item in found), _RINGS_AT_ONCE_FEW)})"
            for ring, found in rings.items()
        )
        places = dict.fromkeys(item.place for found in rings.values() for one in found for item in one.disruptions)
        yield Point(
            words=f"several rings are disturbed by one merge: {joined(where, len(rings))}; a version of the base, or a "
            "change for each ring, lets one ring go first",
            weight=Weight.NOTABLE,
            clusters=tuple(item.name for found in rings.values() for item in found),
            places=tuple(place for place in places if place is not None)[:_RINGS_AT_ONCE_FEW],
            stands_for=0,
        )


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


_FEW = 2


def told(report: ChangeReport) -> Told:
    """Sections without points are left out."""
    clusters = report.clusters
    fleet = fleet_of(report)
    by_part = {
        Part.LEAVES: departure_points(clusters, fleet),
        Part.UNKNOWN: unknown_points(report, fleet),
        Part.OWN: self_grant_points(report.self_grants),
        Part.OTHERS: other_pool_points(clusters, fleet),
        Part.RELEASE: release_points(clusters, fleet),
        Part.MORE: _more(clusters, fleet),
        Part.LESS: privilege_points(clusters, fleet, more=False),
        Part.DISRUPTION: (*ring_points(clusters), *disruption_points(clusters, fleet)),
        Part.IMAGES: image_points(clusters, fleet),
        Part.FIELDS: field_points(clusters, fleet),
        Part.OBJECTS: object_points(clusters, fleet),
        Part.NEW: finding_points(report.new_findings, new=True),
        Part.FIXED: finding_points(report.fixed_findings, new=False),
        Part.FLEET: fleet_points(clusters, fleet),
        Part.DRIFT: drift_points(clusters, fleet),
    }
    sections = tuple(
        Section(part=part, points=points, in_short=_in_short(part, report, points))
        for part in Part
        if (points := by_part[part])
    )
    weights = [section.weight for section in sections]
    return Told(
        weight=min(weights, key=lambda item: item.rank, default=Weight.PLAIN),
        verdict=verdict(report),
        scope=scope(report),
        sections=sections,
    )


def _more(clusters: Sequence[ClusterDiff], fleet: Fleet) -> tuple[Point, ...]:
    """Of the same weight pools before single privileges."""
    points = (*admitted_points(clusters), *privilege_points(clusters, fleet, more=True))
    return tuple(sorted(points, key=lambda point: point.weight.rank))


def _in_short(part: Part, report: ChangeReport, points: Sequence[Point]) -> str:
    if part is Part.IMAGES:
        return images_in_short(report.clusters)
    if part is Part.OBJECTS:
        return objects_in_short(report.clusters)
    if part in (Part.NEW, Part.FIXED) and all(point.is_note for point in points):
        return notes_in_short(points)
    return joined([point.words for point in points], _FEW, "; ")
