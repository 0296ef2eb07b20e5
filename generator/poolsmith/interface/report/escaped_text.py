"""User text made harmless for Markdown, XML and tables that spreadsheets open.

In Markdown a plain word stays plain; every other word becomes a code span, in which GitHub, GitLab and CommonMark take
nothing for a mention, a reference, a link, an image, HTML or a formula. HTML entities are not used: the text that they
stand for is searched for mentions and addresses all the same. In XML there are no control characters, nothing that ends
an attribute or an element, and only ASCII.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import cut, cut_inside, printable
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_LETTERS = r"[^\W_]++"
_PLAIN = pattern(rf"[(\"']*+(?:{_LETTERS}(?:['/,-]{_LETTERS})*+)?[.,:;!?…)\"']*+")
_REFERENCE = pattern(r"\b[0-9a-fA-F]{7,}\b|[A-Za-z]-[0-9]|://")
"""What may be a commit, or a ticket of a tracker that a repository has told GitHub of."""
_OPENING, _CLOSING = "(\"'", ")\"'.,:;"
_MARKS_A_LINE = pattern(r"[0-9]+[.)]|[^\w(\"']")
_BACKTICKS = pattern("`+")


def prose(text: str, limit: int) -> str:
    """Text of one line, with names in backticks, of at most `limit` characters before anything is escaped."""
    shown = cut(printable(masked(text)[: limit + 1]), limit)  # no letter gets shorter when it is made printable
    if shown.count("`") % 2 and shown.endswith("…"):
        shown += "`"  # the cut went through a name
    pieces = list(_pieces(shown))
    if pieces and not pieces[0].startswith("`") and _MARKS_A_LINE.match(pieces[0]):
        pieces[0] = _span(pieces[0])
    return _joined(pieces)


def code(text: str, limit: int) -> str:
    """Text of users as one code span; empty for none."""
    known = masked(text)
    ends = known if len(known) <= 2 * limit else known[:limit] + known[-limit:]
    shown = cut_inside(printable(ends), limit)
    return _span(shown) if shown.strip() else ""


def _pieces(text: str) -> Iterator[str]:
    """Plain words, blanks between them, and code spans."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        yield from _words(text)
        return
    for number, part in enumerate(parts):
        if number % 2 == 0:
            yield from _words(part)
        elif part.strip():
            yield _span(part)


def _words(text: str) -> Iterator[str]:
    for word in re.split("( +)", text):
        if not word:
            continue
        if word.isspace():
            yield " "
        elif _PLAIN.fullmatch(word) and not _REFERENCE.search(word):
            yield word
        else:
            rest = word.lstrip(_OPENING)
            core = rest.rstrip(_CLOSING)
            parts = word[: len(word) - len(rest)], _span(core) if core else "", rest[len(core) :]
            yield from filter(None, parts)


def _span(text: str) -> str:
    """With more backticks around it than it has in a row."""
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    edge = " " if text.startswith("`") or text.endswith("`") or (text[0] == text[-1] == " ") else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def _joined(pieces: list[str]) -> str:
    """Code spans that touch get a blank between them: their backticks would be one fence."""
    found: list[str] = []
    for piece in pieces:
        if found and piece.startswith("`") and found[-1].endswith("`"):
            found.append(" ")
        found.append(piece)
    return "".join(found).strip(" ")


_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_LAST_ASCII = 0x7F


def attribute(text: str) -> str:
    """In its quotes."""
    return f'"{content(text)}"'


def content(text: str) -> str:
    """One line of an element's text. What is printable may stand in XML; the rest is escaped first."""
    return "".join(map(_escaped, printable(text)))


def _escaped(char: str) -> str:
    return _ESCAPES.get(char) or (char if ord(char) <= _LAST_ASCII else f"&#{ord(char)};")


_STARTS = ("=", "+", "-", "@", "\t", "\r")


def harmless_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: behind an apostrophe, as they show text."""
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS) else text


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """RFC 4180, with lines that end as on Unix. No secret is in a cell, and none is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([harmless_cell(masked(text)) for text in row])
    return out.getvalue()
