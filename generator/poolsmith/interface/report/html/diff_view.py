"""What a change does, section by section, as all formats tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.together import told
from poolsmith.change.diff.told import Part, Weight
from poolsmith.core.diagnostics.masking import masked
from poolsmith.interface.report.html.element import anchor, joined, tag, words
from poolsmith.interface.report.html.place import place
from poolsmith.interface.report.html.view import View

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.change.diff.told import Point, Section
    from poolsmith.interface.report.html.element import Html
    from poolsmith.interface.report.layout import ReportContext

_OPEN = frozenset(
    (Part.LEAVES, Part.UNKNOWN, Part.OWN, Part.OTHERS, Part.RELEASE, Part.MORE, Part.LESS, Part.DISRUPTION)
)
"""What is shown at once; the rest opens on demand."""
_WEIGHTS = {Weight.GRAVE: "to be decided", Weight.NOTABLE: "disturbs, or may do more", Weight.PLAIN: "the rest"}
_FEW = 6


def diff_view(change: ChangeReport, context: ReportContext) -> View:
    """New findings have a view of their own."""
    sections = [item for item in told(change).sections if item.part is not Part.NEW]
    if not sections:
        body = tag("p", "The change does nothing to any cluster.", class_="empty")
        return View("change", "Change", body, 0)
    body = joined(_section(item, context) for item in sections)
    weights = {point.weight for section in sections for point in section.points}
    kinds = tuple((weight.value, _WEIGHTS[weight]) for weight in Weight if weight in weights)
    return View("change", "Change", body, sum(len(item.points) for item in sections), kinds)


def _section(section: Section, context: ReportContext) -> Html:
    key = anchor("change", section.part.name.lower())
    heading = tag(
        "summary",
        tag("h3", section.title[:1].upper() + section.title[1:]),
        tag("span", f"{len(section.points):,}", class_="count"),
        tag("span", words(masked(section.in_short)), class_="short"),
    )
    points = tag("ol", joined(_point(item, context) for item in section.points), class_="points")
    return tag("details", heading, points, id=key, class_=f"card {section.weight.value}", open=section.part in _OPEN)


def _point(point: Point, context: ReportContext) -> Html:
    parts = [tag("p", *_mark(point.weight), words(masked(point.words)))]
    about = [*_clusters(point), *(place(item, context) for item in point.places[:_FEW])]
    if len(point.places) > _FEW:
        about.append(tag("span", f"and {len(point.places) - _FEW:,} places more", class_="faint"))
    if about:
        parts.append(tag("p", joined(about, " "), class_="about"))
    if point.details:
        shown = joined(tag("li", words(masked(item))) for item in point.details)
        parts.append(tag("details", tag("summary", "Details"), tag("ul", shown), class_="more"))
    return tag("li", *parts, class_=f"hit {point.weight.value}", data_kind=f"change-{point.weight.value}")


def _mark(weight: Weight) -> list[Html]:
    """What matters is marked by a sign too, and said to who hears the page."""
    if weight is Weight.PLAIN:
        return []
    sign = "!" if weight is Weight.GRAVE else "~"
    told = tag("span", f"{_WEIGHTS[weight]}: ", class_="hidden-label")
    return [tag("span", sign, class_=f"mark {weight.value}", aria_hidden="true", title=_WEIGHTS[weight]), told]


def _clusters(point: Point) -> list[Html]:
    shown = [tag("span", name, class_="chip") for name in point.clusters[:_FEW]]
    rest = point.clusters[_FEW:]
    if rest:
        names = tag("span", ", ".join(rest))
        shown.append(tag("details", tag("summary", f"{len(rest):,} clusters more"), names, class_="inline"))
    return shown
