"""Findings as text: one finding, blocks by rule, cluster or file with the worst first, and lines as wide as a terminal.

The first line of a finding is for grep. Lines are broken between words; nothing is left out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import printable, printable_line
from poolsmith.core.diagnostics.rule_info import rules_by_code
from poolsmith.core.record import record
from poolsmith.interface.report.formats import CLUSTER, FILE, RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location, Severity


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


def help_lines(text: str, most: int | None = None, rest: str = "") -> Iterator[Styled]:
    """Lines after the first stand as far in as the first: help may show a piece of a file.

    Of more than `most` lines only the first is shown, for nobody can copy half of a file; `rest` is what shows them.
    """
    yield _HELP, "good"
    lines = text.split("\n")
    if most is not None and len(lines) > most:
        yield f"{printable_line(lines[0].rstrip(':'))} ({len(lines) - 1} lines; {rest} shows them)\n", "plain"
        return
    for number, line in enumerate(lines):
        indent = " " * len(_HELP) if number else ""
        yield f"{printable_line(indent + line)}\n", "plain"


def str_place(location: Location) -> str:
    return printable_line(str(location.span))


def _excerpt(location: Location, room: int) -> Iterator[Styled]:
    start, end, line = location.span.start, location.span.end, location.source_line
    if start is None or line is None:
        return
    if location.value is not None:
        start, end = location.value
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


_PROFILES, _CLUSTERS = "profiles/", "output/clusters/"
_FEW_NAMES = 5


@record
class Block:
    """`findings`, the worst first, of a file by line; what several clusters have at one place, from a base say, is
    there once.

    `clusters` are those that any of them is about; `name` is a code, a cluster or a path.
    """

    name: str
    findings: tuple[Diagnostic, ...]
    clusters: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        return self.findings[0].severity

    @property
    def where(self) -> str:
        """`on 3 clusters`, `on cluster edge` or `in 2 places`."""
        if len(self.clusters) > 1:
            return f"on {len(self.clusters):,} clusters"
        places = len(self.findings)
        if self.clusters and places == 1:
            return f"on cluster {self.clusters[0]}"
        return f"in {places:,} places" if places > 1 else "in 1 place"

    @property
    def cluster_names(self) -> str:
        names = ", ".join(self.clusters[:_FEW_NAMES])
        rest = len(self.clusters) - _FEW_NAMES
        return f"{names} and {rest:,} more" if rest > 0 else names


def blocks_of(findings: Iterable[Diagnostic], group_by: str) -> list[Block]:
    """By rule the block with the worst finding comes first, then what is on most clusters; else by name."""
    groups: dict[str, list[Diagnostic]] = {}
    for item in findings:
        groups.setdefault(_key(item, group_by), []).append(item)
    blocks = [_block(name, items, group_by) for name, items in groups.items()]
    if group_by == RULE:
        return sorted(blocks, key=_badness)
    return sorted(blocks, key=lambda block: block.name)


def cluster_of(item: Diagnostic) -> str:
    """The name of the cluster that a finding is about, as it is shown; empty where it is about none, or several.

    A base is of no cluster, but what is wrong with it is reported for each cluster that extends it.
    """
    path = item.primary.span.path
    name = ""
    if path.startswith(_CLUSTERS):
        name = path[len(_CLUSTERS) :].partition("/")[0]
    elif path.startswith(_PROFILES):
        name, _, below = path[len(_PROFILES) :].partition("/")
        if not below or name.startswith(("_", ".")):
            name = "" if item.subject == path else item.subject.partition("/")[0]
    return printable(name)


def _key(item: Diagnostic, group_by: str) -> str:
    if group_by == RULE:
        return item.code
    return cluster_of(item) if group_by == CLUSTER else item.primary.span.path


def _block(name: str, items: list[Diagnostic], group_by: str) -> Block:
    once: dict[tuple[object, ...], Diagnostic] = {}
    for item in items if group_by == FILE else sorted(items, key=lambda one: one.severity.rank):
        once.setdefault((item.severity, item.code, str(item.primary.span), item.message), item)
    clusters = sorted({cluster_of(item) for item in items} - {""})
    return Block(name=name, findings=tuple(once.values()), clusters=tuple(clusters))


_OF_FILES = ("PSM0", "PSM10", "PSM11")
"""What is wrong with a file as somebody wrote it: before all that may come of it."""


FOLLOWING = frozenset(rule.code for rule in rules_by_code().values() if rule.follows)


def _badness(block: Block) -> tuple[bool, int, bool, int, int, str]:
    """What follows from other mistakes is after all of them."""
    is_later = not block.name.startswith(_OF_FILES)
    follows = block.name in FOLLOWING
    return follows, block.severity.rank, is_later, -len(block.clusters), -len(block.findings), block.name


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
