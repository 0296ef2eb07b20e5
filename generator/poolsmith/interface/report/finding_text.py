"""One finding as text: line one is for grep, the rest for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.printable import printable, printable_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location

Styled = tuple[str, str]
"""A piece of text and its style: error, warning, note, place, code, faint, good or plain."""

MOST_RELATED = 5
_MAX_LINE = 160
_GUTTER = len("      | ")
_NARROWEST = 20
_HELP = "   help: "


def head(item: Diagnostic) -> Iterator[Styled]:
    """`path:line:column: severity code name: message`, whole."""
    yield str_place(item.primary), "place"
    yield ": ", "plain"
    yield item.severity.value, item.severity.value
    yield f" {item.code} {item.name}", "code"
    yield f": {printable(item.message)}\n", "plain"


def body(item: Diagnostic, width: int | None, most_related: int | None = MOST_RELATED) -> Iterator[Styled]:
    """The line of the file and further places, without the help."""
    yield from _excerpt(item.primary, _MAX_LINE if width is None else min(_MAX_LINE, width - _GUTTER))
    for location in item.related[:most_related]:
        note = f": {printable(location.note)}" if location.note else ""
        yield f"   see {str_place(location)}{note}\n", "faint"
    if most_related is not None and len(item.related) > most_related:
        yield f"   and {len(item.related) - most_related} more places\n", "faint"


def help_lines(text: str) -> Iterator[Styled]:
    """Lines after the first stand as far in as the first: help may show a piece of a file."""
    yield _HELP, "good"
    for number, line in enumerate(text.split("\n")):
        indent = " " * len(_HELP) if number else ""
        yield f"{printable_line(indent + line)}\n", "plain"


def str_place(location: Location) -> str:
    return printable_line(str(location.span))


def _excerpt(location: Location, room: int) -> Iterator[Styled]:
    start, end, line = location.span.start, location.span.end, location.source_line
    if start is None or line is None:
        return
    line = line.replace("\t", " ")
    column = len(printable(line[: start.column - 1]))
    shown, column = _window(printable(line), column, max(room, _NARROWEST))
    yield f"{start.line:>5} | ", "faint"
    yield f"{shown}\n", "plain"
    if start.column <= len(line):
        width = end.column - start.column if end is not None and end.line == start.line else 1
        yield f"      | {' ' * column}", "faint"
        yield f"{'^' * max(1, min(width, len(shown) - column))}\n", "error"


def _window(text: str, column: int, room: int) -> tuple[str, int]:
    """The part of a long line that has what stands at `column`, which counts from 0 here; and where it stands in it."""
    if len(text) <= room:
        return text, column
    first = max(0, min(column - room // 3, len(text) - room))
    shown = text[first : first + room]
    if first:
        shown = f"…{shown[1:]}"
    if first + room < len(text):
        shown = f"{shown[:-1]}…"
    return shown, column - first
