"""What a change does, as one comment of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import Part, Weight, scope
from poolsmith.interface.report import markdown_page

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.change.diff.change_sections import Point, Section
    from poolsmith.interface.report.formats import ReportContext

MOST_BYTES = 40_000
"""With the comment of a check beside it, below GitHub's limit."""
_TITLES = {
    Weight.GRAVE: "🔴 poolsmith diff: look closely",
    Weight.NOTABLE: "🟡 poolsmith diff: worth a look",
    Weight.PLAIN: "⚪ poolsmith diff: quiet",
}
_NOTHING = "⚪ poolsmith diff: nothing changes"
_OPEN = (
    Part.WRITTEN,
    Part.LEAVES,
    Part.ENGINE,
    Part.UNKNOWN,
    Part.OTHERS,
    Part.RELEASE,
    Part.MORE,
    Part.DISRUPTION,
    Part.NEW,
)
_MARKS = {Weight.GRAVE: "❗ ", Weight.NOTABLE: "", Weight.PLAIN: ""}
_FEW = 3


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """Below MOST_BYTES. It begins with a comment by which it can be found again, and ends in a newline."""
    rest = context.layout.rest or "poolsmith diff -v"
    if change.is_empty:
        page = markdown_page.Page(marker="diff", title=_NOTHING, lead=(f"{scope(change)}.",), parts=(), rest=rest)
        return markdown_page.fitted(page, MOST_BYTES)
    from poolsmith.change.diff.change_summary import change_view  # on demand: many changes have nothing to show

    view = change_view(change)
    is_short = sum(len(section.points) for section in view.sections) <= _FEW
    page = markdown_page.Page(
        marker="diff",
        title=_TITLES[view.weight],
        lead=(f"{view.verdict[:1].upper()}{view.verdict[1:]}.", f"{view.scope}."),
        parts=tuple(_part(section, is_short=is_short) for section in view.sections),
        rest=rest,
    )
    return markdown_page.fitted(page, MOST_BYTES)


def _part(section: Section, *, is_short: bool) -> markdown_page.PagePart:
    is_open = is_short or (section.part in _OPEN and not all(point.is_note for point in section.points))
    return markdown_page.PagePart(
        title=section.title[:1].upper() + section.title[1:],
        items=tuple(map(_item, section.points)),
        is_folded=not is_open,
        size=sum(point.stands_for for point in section.points),
    )


def _item(point: Point) -> markdown_page.PageItem:
    clusters = (f"clusters: {', '.join(f'`{name}`' for name in point.clusters)}",) if len(point.clusters) > 1 else ()
    return markdown_page.PageItem(
        words=point.words,
        places=tuple(str(place.span) for place in point.places),
        details=(*clusters, *point.details),
        mark=_MARKS[point.weight],
    )
