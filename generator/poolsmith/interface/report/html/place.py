"""Lines that people edit, as links where somebody has said where the repository is to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from poolsmith.interface.report.html.element import tag

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.interface.report.html.element import Html
    from poolsmith.interface.report.layout import ReportContext


def place(location: Location, context: ReportContext) -> Html:
    start = location.span.start
    return line_of(location.span.path, start.line if start is not None else None, context)


def line_of(path: str, line: int | None, context: ReportContext) -> Html:
    """The line counts from 1; None is the whole file."""
    shown = path if line is None else f"{path}:{line}"
    if not context.source:
        return tag("span", shown, class_="place")
    target = f"{context.source}/{quote(context.below + path)}" + ("" if line is None else f"#L{line}")
    return tag("a", shown, class_="place", href=target, rel="noreferrer")
