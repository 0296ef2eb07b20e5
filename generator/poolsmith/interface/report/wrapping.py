"""Lines as wide as a terminal, broken between words; nothing is left out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.interface.report.finding_text import Styled

_HANGING = 3
"""Columns that a line which goes on is further in than its first."""


def wrapped(pieces: Iterable[Styled], width: int) -> Iterator[Styled]:
    """The same pieces. A word longer than a line stays whole, so that paths and addresses can be copied."""
    line: list[Styled] = []
    for text, style in pieces:
        *ended, rest = text.split("\n")
        for part in ended:
            yield from _fitted([*line, (part, style)], width)
            yield "\n", "plain"
            line = []
        line.append((rest, style))
    yield from _fitted(line, width)


def _fitted(line: list[Styled], width: int) -> Iterator[Styled]:
    text = "".join(part for part, _ in line)
    if len(text) <= width:
        yield from line
        return
    lead = len(text) - len(text.lstrip(" "))
    indent = min(lead + _HANGING, width // 2)
    breaks = list(_breaks(text, lead, width, indent))
    for number, (start, end) in enumerate(pairwise([-1, *breaks, len(text)])):
        if number:
            yield "\n" + " " * indent, "plain"
        yield from _between(line, start + 1, end)


def _breaks(text: str, lead: int, width: int, indent: int) -> Iterator[int]:
    """Where there are spaces that give way to line breaks."""
    start, room, searched = 0, width, lead
    while len(text) - start > room:
        at = text.rfind(" ", searched, start + room + 1)
        if at < 0:
            at = text.find(" ", start + room)
        if at < 0:
            return
        yield at
        start = searched = at + 1
        room = width - indent


def _between(line: list[Styled], start: int, end: int) -> Iterator[Styled]:
    position = 0
    for part, style in line:
        shown = part[max(0, start - position) : max(0, end - position)]
        if shown:
            yield shown, style
        position += len(part)
