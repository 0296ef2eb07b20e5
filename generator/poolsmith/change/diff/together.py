"""A whole change as it is read: what is the same for many clusters is told once, what matters first.

Every format shows these sections; none groups or words anything of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.admitted_pools import admitted_points
from poolsmith.change.diff.compared import scope
from poolsmith.change.diff.rings_at_once import ring_points
from poolsmith.change.diff.told import Part, Section, Told, Weight
from poolsmith.change.diff.told_content import (
    drift_points,
    field_points,
    fleet_points,
    image_points,
    images_in_short,
    object_points,
    objects_in_short,
)
from poolsmith.change.diff.told_departures import departure_points
from poolsmith.change.diff.told_disruption import disruption_points
from poolsmith.change.diff.told_findings import finding_points, notes_in_short, self_grant_points, unknown_points
from poolsmith.change.diff.told_others import other_pool_points
from poolsmith.change.diff.told_privileges import privilege_points
from poolsmith.change.diff.told_release import release_points
from poolsmith.change.diff.told_where import fleet_of
from poolsmith.change.diff.verdict import verdict
from poolsmith.core.diagnostics.listing import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff
    from poolsmith.change.diff.told import Point
    from poolsmith.change.diff.told_where import Fleet

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
