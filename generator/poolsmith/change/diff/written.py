"""A change by what was written: each line of a profile that differs, with what comes of it.

A line that a person chose comes before pools that come or go, and those before what another release brings; among
equals what asks for a decision comes first, and more reach before less.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ChangeReport, ClusterDiff
from poolsmith.change.diff.change_sections import Part, Point, Weight
from poolsmith.change.diff.headline import effects, privilege_effects
from poolsmith.change.diff.phrases import sentence
from poolsmith.change.diff.privilege_words import MORE_POOLS, gains, privilege_standing
from poolsmith.change.diff.report_rows import fleet_rows, rows_of, self_grant_rows
from poolsmith.change.diff.rows import By, Group, Row, RowKind, grouped
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import overlap, split
from poolsmith.kubernetes.server.field_changes import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.change.diff.rows import Fleet
    from poolsmith.core.diagnostics import Diagnostic, Location

_OF_CLUSTERS = ("privileges", "disruptions", "departures", "delivery", "others", "drift")
"""The fields of a cluster's change that come of something."""
_TOLD = (Part.OTHERS, Part.MORE, Part.DISRUPTION, Part.LESS)
"""Sections with sentences on what comes of a line."""
_MOST_DETAILS = 60


def written_rows(report: ChangeReport) -> tuple[Row, ...]:
    """Fields and values that differ, pools and clusters that come, go or are renamed, and what the change grants
    itself. A value that follows from a field is none of them."""
    written, _ = _fields(report)
    return (*chain.from_iterable(map(fleet_rows, report.clusters)), *written, *self_grant_rows(report))


def following_values(report: ChangeReport) -> tuple[Row, ...]:
    """Values that nobody wrote: they follow from fields, or from the release."""
    _, following = _fields(report)
    return tuple(following)


def _fields(report: ChangeReport) -> tuple[list[Row], list[Row]]:
    """Fields with the values that stand at lines of their own, and the values that follow."""
    rows = tuple(rows_of(Part.FIELDS, report))
    known = {_line(row) for row in rows if row.kind is RowKind.FIELD}
    written: list[Row] = []
    following: list[Row] = []
    for row in rows:
        is_own = row.kind is RowKind.FIELD or (row.place is not None and _line(row) not in known)
        (written if is_own else following).append(row)
    return written, following


def _line(row: Row) -> tuple[str, ...]:
    return (row.cluster,) if row.place is None else (row.cluster, row.place.span.path, row.place.pointer)


def written_points(report: ChangeReport, fleet: Fleet) -> tuple[Point, ...]:
    """One for each line, or for all clusters and pools in which it says the same."""
    rows = written_rows(report)
    parts = _Parts(report, rows)
    groups = [(group, parts.of(group.rows)) for group in grouped(rows, fleet)]
    found = [(_order(group, part, point), point) for group, part in groups for point in (_point(group, part, fleet),)]
    return tuple(point for _, point in sorted(found, key=lambda item: item[0]))


def _order(group: Group, part: ChangeReport, point: Point) -> tuple[object, ...]:
    by = group.first.by
    is_plain = by is By.PERSON and point.weight is Weight.PLAIN
    is_grant = group.first.kind is RowKind.SELF_GRANT
    reach = min((item.change.reach for one in part.clusters for item in one.privileges), default=99)
    leaves = any(one.departures for one in part.clusters)
    return not leaves, By.RELEASE + 1 if is_plain else by, point.weight.rank, is_grant, reach, -len(group.rows)


def _point(group: Group, part: ChangeReport, fleet: Fleet) -> Point:
    sections = {name: grouped(rows_of(name, part), fleet) for name in _TOLD}
    told = tuple(chain.from_iterable(sections.values()))
    words = "; ".join(_phrases(group.first, part, sections[Part.MORE]))
    findings = (rows_of(Part.NEW, part)) if part.new_findings else ()
    return Point(
        words=f"{sentence(group)}: {words}" if words else sentence(group),
        weight=min(
            (group.first.weight, *(one.first.weight for one in told), *(row.weight for row in findings)),
            key=lambda weight: weight.rank,
        ),
        clusters=group.clusters,
        places=group.places,
        details=tuple(map(sentence, told[:_MOST_DETAILS])),
        stands_for=group.count,
    )


def _phrases(row: Row, part: ChangeReport, more: tuple[Group, ...]) -> Iterator[str]:
    """The gravest privilege in its own words, then counts."""
    if row.by is By.PERSON and more:
        yield sentence(more[0])
        yield from effects(part, privileges=len(more) > 1, codes=True)
    elif row.kind is RowKind.POOL and row.standing == Standing.ADDED:
        yield from _of_new_pools(part, more)
    else:
        yield from effects(part, codes=True)


def _of_new_pools(part: ChangeReport, more: tuple[Group, ...]) -> Iterator[str]:
    """What others hold already is a number; what nothing held before is said."""
    known = _only(part, lambda change: privilege_standing(change) == MORE_POOLS)
    if count := sum(len(one.privileges) for one in known.clusters):
        ungranted = sum(item.granted is False for one in known.clusters for item in one.privileges)
        grants = f", {ungranted:,} of them without a grant" if ungranted else ""
        yield f"{counted(count, 'privilege')} that other pools have too{grants}"
    new = [group for group in more if group.first.standing != MORE_POOLS]
    if new:
        yield sentence(new[0])
    if len(new) > 1:
        yield from privilege_effects(_only(part, lambda change: privilege_standing(change) != MORE_POOLS).clusters)
    yield from effects(part, privileges=False, codes=True)


def _only(part: ChangeReport, wanted: Callable[..., bool]) -> ChangeReport:
    clusters = (
        ClusterDiff(
            name=one.name,
            standing=one.standing,
            privileges=tuple(item for item in one.privileges if gains(item.change) and wanted(item.change)),
        )
        for one in part.clusters
    )
    return ChangeReport(base=part.base, head=part.head, clusters=tuple(clusters))


@record(frozen=False)
class _Effects:
    """Of one row."""

    items: dict[str, list[object]]
    findings: list[Diagnostic]


class _Parts:
    """A change in parts: what comes of each of the rows. What comes of none of them is in no part."""

    def __init__(self, report: ChangeReport, rows: Iterable[Row]) -> None:
        self._report = report
        self._effects: dict[int, _Effects] = {}
        self._written: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._written[row.cluster].append(row)
        for cluster in report.clusters:
            added = cluster.added_pools
            for name in _OF_CLUSTERS:
                for item in getattr(cluster, name):
                    if (cause := self._cause(cluster.name, item.place, added, _pools(item))) is not None:
                        self._of(cause).items.setdefault(name, []).append(item)
        for found in rows_of(Part.NEW, report):
            if (cause := self._cause(found.cluster, found.place)) is not None:
                self._of(cause).findings.append(found.item)

    def of(self, rows: Iterable[Row]) -> ChangeReport:
        """The part of the change that comes of the rows."""
        clusters, findings = [], []
        by_cluster: dict[str, dict[str, list[object]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            for name, items in self._of(row).items.items():
                by_cluster[row.cluster][name].extend(items)
            findings.extend(self._of(row).findings)
        for cluster, fields in by_cluster.items():
            held = {name: tuple(items) for name, items in fields.items()}
            clusters.append(ClusterDiff(name=cluster, standing=Standing.CHANGED, **held))  # type: ignore[arg-type]
        report = self._report
        return ChangeReport(base=report.base, head=report.head, clusters=tuple(clusters), new_findings=tuple(findings))

    def _of(self, row: Row) -> _Effects:
        return self._effects.setdefault(id(row), _Effects(items={}, findings=[]))

    def _cause(
        self, cluster: str, place: Location | None, added: frozenset[str] = frozenset(), pools: tuple[str, ...] = ()
    ) -> Row | None:
        """By its line, or the one nearest to it; by its pools, where all are new; else the release, or the only row."""
        rows = self._written.get(cluster, [])
        if pools and added.issuperset(pools):
            return next((row for row in rows if row.kind is RowKind.POOL and row.name in pools), None)
        if place is not None and (row := _nearest(rows, place)) is not None:
            return row
        whole = [row for row in rows if row.kind is RowKind.CLUSTER or row.by is By.RELEASE]
        return whole[0] if whole else rows[0] if len(rows) == 1 else None


def _nearest(rows: Iterable[Row], place: Location) -> Row | None:
    """The row whose line is the place, or stands above or below it in the same file."""
    path, at = place.span.path, split(place.pointer)
    within = [row for row in rows if row.place is not None and row.place.span.path == path]
    near = [(len(split(_pointer(row))), row) for row in within if overlap(split(_pointer(row)), at)]
    best = max(near, key=lambda item: item[0], default=None)
    if best is not None:
        return best[1]
    return next((row for row in within if row.kind is RowKind.POOL), None)


def _pointer(row: Row) -> str:
    """A pool's row stands at its name, and is its whole file."""
    return "" if row.kind in (RowKind.POOL, RowKind.CLUSTER) or row.place is None else row.place.pointer


def _pools(item: object) -> tuple[str, ...]:
    """On which something is there that was not, or happens."""
    change = getattr(item, "change", None)
    pools: tuple[str, ...] = change.pools_after if change is not None else getattr(item, "pools", ())
    return pools
