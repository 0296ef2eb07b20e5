"""The edit of a finding whose answer is one: the word that was meant, quotes,
or keys below each other in the place of dots.

It is derived from the finding as people read it: the help names the one word, and the place what to write over. Where
the text there is not the word that the message names, or another word might have been meant, there is no edit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.diagnostic import Diagnostic, Location

_MEANT = pattern(r"did you mean `([^`\s]{1,200})`\?")
_QUOTE, _DOTS = "quote it", "a dot does not nest keys"
_QUOTES = "\"'"
_PLAIN = pattern(r"[A-Za-z0-9_./@-]{1,200}")
_VALUE = pattern(r":[ ]+([A-Za-z0-9_./@-]{1,200}|\"[^\"\\\n]{0,200}\"|'[^'\n]{0,200}')(?=\s*(#|$))")
"""After a key: a scalar on the same line."""


@record
class Edit:
    """`text` in the place of `old`, from `start` to `end` (exclusive) on one line of the file at `path`."""

    path: str
    old: str
    start: Position
    end: Position
    text: str

    @property
    def order(self) -> tuple[str, Position, Position]:
        return self.path, self.start, self.end


def certain_edit(item: Diagnostic) -> Edit | None:
    """None where nobody can be certain."""
    stretch = _stretch(item.primary)
    if stretch is None or item.is_waived or not item.help:
        return None
    start, end, token = stretch
    if item.help.startswith(_DOTS):
        return _nested(item.primary, start, end, token)
    text = _text(item, token)
    if text is None or text == token:
        return None
    return Edit(path=item.primary.span.path, old=token, start=start, end=end, text=text)


def _nested(place: Location, start: Position, end: Position, key: str) -> Edit | None:
    """Keys in braces, where the value is a scalar behind the key."""
    line = place.source_line or ""
    match = _VALUE.match(line[end.column - 1 :])
    if match is None or not _PLAIN.fullmatch(key):
        return None
    *above, last = key.split(".")
    text = f"{': {'.join((*above, last))}: {match[1]}{'}' * len(above)}"
    after = Position(end.line, end.column + match.end(1))
    old = line[start.column - 1 : after.column - 1]
    return Edit(path=place.span.path, old=old, start=start, end=after, text=text)


def _stretch(place: Location) -> tuple[Position, Position, str] | None:
    """What is underlined, and what stands there."""
    start, end = place.value or (place.span.start, place.span.end)
    if start is None or end is None or start.line != end.line or place.source_line is None:
        return None
    token = place.source_line[start.column - 1 : end.column - 1]
    return (start, end, token) if token and len(token) == end.column - start.column else None


def _text(item: Diagnostic, token: str) -> str | None:
    help_text = item.help or ""
    if help_text.startswith(_QUOTE):
        return json.dumps(token) if _PLAIN.fullmatch(token) else None
    match = _MEANT.fullmatch(help_text)
    word = token.strip(_QUOTES)
    if match is None or f"{word}`" not in item.message or not _PLAIN.fullmatch(word):
        return None
    meant = match[1]
    if "." in meant and "." not in word:  # a path: the key at its end, beside the one that stands there
        meant = meant.rpartition(".")[2]
    if not _PLAIN.fullmatch(meant) or nearest(word, [meant], certain=True) != meant:
        return None
    return token.replace(word, meant, 1)
