"""Findings that a change brings and fixes, one point for each rule; self grants; what nobody can tell."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.told import Point, Weight
from poolsmith.change.diff.told_content import Gathered
from poolsmith.change.diff.touched_clusters import of_clusters
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.listing import counted, joined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ChangeReport, SelfGrant
    from poolsmith.change.diff.told_where import Fleet
    from poolsmith.core.diagnostics import Diagnostic

_WEIGHTS = {Severity.ERROR: Weight.GRAVE, Severity.WARNING: Weight.NOTABLE, Severity.NOTE: Weight.PLAIN}
_FEW = 6
_OUTPUT = "output/clusters/"


def finding_points(findings: Iterable[Diagnostic], *, new: bool) -> tuple[Point, ...]:
    """The worst first. Of several of one rule the first is told, and the others in the details."""
    groups: dict[tuple[Severity, str, bool], list[Diagnostic]] = defaultdict(list)
    for item in findings:
        groups[item.severity, item.code, item.is_waived].append(item)
    points = [_finding_point(found, new=new) for found in groups.values()]
    return tuple(sorted(points, key=lambda point: (point.weight.rank, -point.stands_for)))


def notes_in_short(points: Iterable[Point]) -> str:
    """The rules of findings that are all folded: `3 notes: PSM248, PSM304, PSM405`."""
    found = list(points)
    codes = dict.fromkeys(point.words.split(" ", 2)[1] for point in found)
    return f"{counted(sum(point.stands_for for point in found), 'note')}: {joined(codes, _FEW)}"


def _finding_point(found: list[Diagnostic], *, new: bool) -> Point:
    first = found[0]
    more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
    waived = ", waived" if first.is_waived else ""
    return Point(
        words=f"{first.severity.value} {first.code} {first.name}{waived}: {first.message}{more}",
        weight=_WEIGHTS[first.severity] if new and not first.is_waived else Weight.PLAIN,
        clusters=tuple(sorted({name for item in found if (name := _cluster(item))})),
        places=tuple(dict.fromkeys(item.primary for item in found)),
        details=tuple(f"{item.primary.span}: {item.message}" for item in found[1:]),
        stands_for=len(found),
        is_note=first.severity is Severity.NOTE or first.is_waived,
    )


def _cluster(item: Diagnostic) -> str:
    path = item.primary.span.path
    return path[len(_OUTPUT) :].partition("/")[0] if path.startswith(_OUTPUT) else of_clusters(path)


def self_grant_points(grants: Iterable[SelfGrant]) -> tuple[Point, ...]:
    """What lets more pass first."""
    points = [
        Point(words=item.what, weight=Weight.GRAVE if item.widens else Weight.PLAIN, places=(item.place,))
        for item in grants
    ]
    return tuple(sorted(points, key=lambda point: point.weight.rank))


def unknown_points(report: ChangeReport, fleet: Fleet) -> tuple[Point, ...]:
    gathered = Gathered(fleet)
    for cluster in report.clusters:
        for text in cluster.unknown:

            def told(where: str, text: str = text) -> str:
                return f"{text} ({where})" if where else text

            gathered.add((text,), told, cluster.name, weight=Weight.GRAVE)
    return (*(Point(words=text, weight=Weight.GRAVE) for text in report.unknown), *gathered.points())
