"""What a change does, as text for a terminal: one screen, what matters first, and last where the rest is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import Part, Weight, scope
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import printable, printable_line
from poolsmith.interface.report.finding_blocks import str_place
from poolsmith.interface.report.formats import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.change.diff.change_sections import Point, Section
    from poolsmith.interface.report.finding_blocks import Styled
    from poolsmith.interface.report.formats import Layout, ReportContext

_MOST = {
    Part.WRITTEN: 8,
    Part.LEAVES: 4,
    Part.ENGINE: 2,
    Part.UNKNOWN: 4,
    Part.OTHERS: 5,
    Part.RELEASE: 6,
    Part.MORE: 4,
    Part.DISRUPTION: 5,
    Part.NEW: 4,
}
_MOST_OF_OTHERS = 2
_COUNTED = (Part.IMAGES, Part.OBJECTS)
_FINDINGS = (Part.NEW, Part.FIXED)
_STYLES = {Weight.GRAVE: "error", Weight.NOTABLE: "warning", Weight.PLAIN: "good"}
WORDS = {Weight.GRAVE: "look closely", Weight.NOTABLE: "worth a look", Weight.PLAIN: "quiet"}


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """In the order in which a reviewer reads it; the text ends in a newline."""
    return "".join(text for text, _ in styled(change, context.layout))


def styled(change: ChangeReport, layout: Layout = SHORT) -> Iterator[Styled]:
    """The report in pieces; a terminal may colour them."""
    if layout.width is None:
        return _report(change, layout)
    from poolsmith.interface.report.finding_blocks import wrapped  # on demand

    return wrapped(_report(change, layout), layout.width)


def _report(change: ChangeReport, layout: Layout) -> Iterator[Styled]:
    if change.is_empty:
        yield f"nothing changes: {_safe(scope(change))}\n", "plain"
        return
    from poolsmith.change.diff.change_summary import change_view  # on demand: many changes have nothing to show

    view = change_view(change)
    yield f"{_safe(view.scope)}\n", "plain"
    yield WORDS[view.weight], _STYLES[view.weight]
    yield f": {_safe(view.verdict)}\n", "plain"
    folded = False
    for section in view.sections:
        shown = _shown(section, layout)
        folded = folded or len(shown) < len(section.points) or any(point.details for point in shown)
        yield section.title, "place"
        yield f"{'' if shown else f': {_short(section)}'}\n", "plain"
        for point in shown:
            yield from _point(point, layout)
        rest = len(section.points) - len(shown)
        if shown and rest:
            yield f"   and {rest:,} more\n", "faint"
    if folded and not layout.verbose:
        yield f"{_rest(layout)} shows all\n", "plain"


def _rest(layout: Layout) -> str:
    return f"`{printable_line(layout.rest)}`" if layout.rest else "`-v`"


def _short(section: Section) -> str:
    return _safe(section.in_short)


def _shown(section: Section, layout: Layout) -> tuple[Point, ...]:
    """None where one line tells the section. Notes are counted, unless they decide the exit code."""
    points = section.points
    if layout.verbose:
        return points
    if section.part in _COUNTED:
        return points if len(points) <= _MOST_OF_OTHERS else ()
    if section.part in _FINDINGS and layout.fail_on is not Severity.NOTE:
        points = tuple(point for point in points if not point.is_note)
    most = _MOST.get(section.part, _MOST_OF_OTHERS)
    return points if len(points) == most + 1 else points[:most]


def _point(point: Point, layout: Layout) -> Iterator[Styled]:
    mark = "!" if point.weight is Weight.GRAVE else "-"
    yield f" {mark} ", _STYLES[point.weight] if point.weight is not Weight.PLAIN else "plain"
    yield _safe(point.words), "plain"
    if point.places:
        more = f" and {len(point.places) - 1:,} more" if len(point.places) > 1 else ""
        yield f" ({_safe(str_place(point.places[0]))}{more})", "faint"
    yield "\n", "plain"
    if layout.verbose:
        if len(point.clusters) > 1:
            yield f"      clusters: {_safe(', '.join(point.clusters))}\n", "faint"
        for detail in point.details:
            yield f"      {_safe(detail)}\n", "plain"
        for place in point.places[1:]:
            yield f"      see {_safe(str_place(place))}\n", "faint"


def _safe(text: str) -> str:
    return printable(masked(text))
