"""A whole change as it is read: its sections, one line of what matters most, and one of what was compared.

Rows, their grouping and their phrases are made elsewhere; every format shows this view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import ChangeView, Part, Point, Section, Weight, scope
from poolsmith.change.diff.headline import disturbed_rings, verdict
from poolsmith.change.diff.phrases import FEW_FOLDED, VERBS, fold_of, folded_point, point_of
from poolsmith.change.diff.report_rows import rows_of
from poolsmith.change.diff.rows import Group, Row, fleet_of, grouped
from poolsmith.change.diff.written import following_values, written_points
from poolsmith.core.diagnostics.message_text import counted, joined, listed, shorten
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff
    from poolsmith.change.diff.rows import Fleet

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
    if part is Part.WRITTEN:
        points = written_points(report, fleet)
        return Section(part=part, points=points, in_short=_in_short(part, (), points)) if points else None
    rows = following_values(report) if part is Part.FIELDS else tuple(rows_of(part, report))
    points = _points(grouped(rows, fleet), fleet) if rows else ()
    if part is Part.DISRUPTION:
        points = (*ring_points(report.clusters), *points)
    return Section(part=part, points=points, in_short=_in_short(part, rows, points)) if points else None


def _points(groups: Sequence[Group], fleet: Fleet) -> tuple[Point, ...]:
    """Many restarts, starts or stops are one point, with each in its details; so are privileges that new pools share
    with others, and those that a release brings."""
    by_fold: dict[str, list[Group]] = {}
    for group in groups:
        if (name := fold_of(group.first)) is not None:
            by_fold.setdefault(name, []).append(group)
    folded = {name: found for name, found in by_fold.items() if len(found) > FEW_FOLDED}
    points = []
    for group in groups:
        alike = folded.get(fold_of(group.first) or "")
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
