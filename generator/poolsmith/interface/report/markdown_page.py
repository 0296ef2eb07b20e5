"""A comment in Markdown that GitHub takes, however much there is to say: lists in folded details, cut between items.

GitHub refuses a comment of more than 65,536 characters. A text is made anew with fewer items and shorter sentences
until it fits; so nothing is ever cut inside of a fold, a list or a code span, and each list says how much it left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.interface.report.escaped_text import code, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

_BACKTICKS = pattern(r"`+")
_PLACE = 120
_COMMAND = 200
_FEW_DETAILS = 4
"""Under a sentence that is not folded."""


@record
class PageItem:
    """A sentence, the places that it is about, and further sentences. `mark` stands in front of it, and is ours.

    `block` are lines to copy, each as it is.
    """

    words: str
    places: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    mark: str = ""
    block: tuple[str, ...] = ()


@record
class PagePart:
    """A heading of our own words and items. `is_folded`: all of them are; else those after the first few."""

    title: str
    items: tuple[PageItem, ...]
    is_folded: bool = False
    lead_in: str = ""
    """One sentence of users' words under the title."""
    size: int = 0
    """How many things it is about, where that is not the number of items."""


@record
class Page:
    """`marker` names the comment; `title` is ours, `lead` are sentences with users' words."""

    marker: str
    title: str
    lead: tuple[str, ...]
    parts: tuple[PagePart, ...]
    rest: str
    """The command that shows all."""


@record(kw_only=False)
class _Level:
    """Items shown and items folded of each part, letters of a sentence, details of an item."""

    shown: int
    folded: int
    letters: int
    details: int

    @property
    def items(self) -> int:
        return self.shown + self.folded


_LEVELS = (
    _Level(8, 500, 1500, 60),
    _Level(8, 200, 900, 20),
    _Level(8, 80, 700, 6),
    _Level(6, 40, 600, 3),
    _Level(6, 20, 500, 0),
    _Level(5, 8, 400, 0),
    _Level(3, 2, 250, 0),
    _Level(1, 0, 60, 0),
)


def fitted(page: Page, most_bytes: int) -> str:
    """The longest text of at most so many bytes; it ends in a newline."""
    text = ""
    for level in _LEVELS:
        text = "\n".join(_lines(page, level)) + "\n"
        if len(text.encode("utf-8", "backslashreplace")) <= most_bytes:
            break
    return text


def _lines(page: Page, level: _Level) -> Iterator[str]:
    yield f"<!-- poolsmith:{page.marker} -->"
    yield f"### {page.title}"
    for text in page.lead:
        yield ""
        yield prose(text, max(level.letters, _COMMAND))
    for part in page.parts:
        yield ""
        yield from _part(part, level)
    if any(_is_cut(part, level) for part in page.parts):
        yield ""
        yield f"Not everything fits into a comment: {code(page.rest, _COMMAND)} shows all."


def _part(part: PagePart, level: _Level) -> Iterator[str]:
    count = f"{part.size or len(part.items):,}"
    if part.is_folded:
        yield from _fold(f"<b>{part.title}</b>: {count}", part, part.items, level.items, level)
        return
    yield f"#### {part.title}"
    yield ""
    if part.lead_in:
        yield prose(part.lead_in, level.letters)
        yield ""
    for item in part.items[: level.shown]:
        yield from _item(item, level, _FEW_DETAILS)
    if rest := part.items[level.shown :]:
        yield ""
        yield from _fold(f"{len(rest):,} more", part, rest, level.folded, level)


def _fold(summary: str, part: PagePart, items: tuple[PageItem, ...], most: int, level: _Level) -> Iterator[str]:
    if not most:
        yield f"{len(items):,} more."
        return
    yield f"<details><summary>{summary}</summary>"
    yield ""
    if part.is_folded and part.lead_in:
        yield prose(part.lead_in, level.letters)
        yield ""
    for item in items[:most]:
        yield from _item(item, level, level.details)
    if len(items) > most:
        yield f"- and {len(items) - most:,} more"
    yield ""
    yield "</details>"


def _item(item: PageItem, level: _Level, most: int) -> Iterator[str]:
    most = min(most, level.details)
    places = ""
    if item.places:
        more = f" and {len(item.places) - 1:,} more" if len(item.places) > 1 else ""
        places = f" ({code(item.places[0], min(_PLACE, level.letters))}{more})"
    yield f"- {item.mark}{prose(item.words, level.letters)}{places}"
    for detail in item.details[:most]:
        yield f"  - {prose(detail, level.letters)}"
    if most and len(item.details) > most:
        yield f"  - and {len(item.details) - most:,} more"
    if item.block and most and sum(map(len, item.block)) <= level.letters:
        yield from _fenced(item.block)


def _fenced(lines: tuple[str, ...]) -> Iterator[str]:
    """Inside of a list's item; nothing in the lines can end the block."""
    shown = [printable(line) for line in lines]
    fence = "`" * max(3, 1 + max(len(run) for line in shown for run in _BACKTICKS.findall(line) or [""]))
    yield ""
    yield f"  {fence}yaml"
    yield from (f"  {line}".rstrip() for line in shown)
    yield f"  {fence}"


def _is_cut(part: PagePart, level: _Level) -> bool:
    most = level.details if part.is_folded else min(level.details, _FEW_DETAILS)
    return len(part.items) > level.items or any(
        len(item.details) > most or len(item.words) > level.letters for item in part.items
    )
