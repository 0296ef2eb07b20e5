"""The edit of a finding whose answer is one: the word that was meant, quotes, keys below each other in the place of
dots, a value at the place where it is read, or a file that a kustomization does not list.

It is derived from the finding as people read it: the help names the one word, and the place what to write over. Where
the text there is not the word that the message names, or another word might have been meant, there is no edit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics.diagnostic import Diagnostic, Location

_MEANT = pattern(r"did you mean `([^`\s]{1,200})`\?")
_WORD = pattern(r"`([^`\s]{1,200})`")
_QUOTE, _DOTS = "quote it", "a dot does not nest keys"
_BELONGS = pattern(r"it belongs under `[A-Za-z0-9_.-]{1,200}`: `([A-Za-z0-9_.-]{1,200})`")
_NOT_READ = pattern(r"does not read `([A-Za-z0-9_.-]{1,200})`")
_LISTS = pattern(r"add `([A-Za-z0-9][A-Za-z0-9_.-]{0,200})` to the resources of that kustomization")
_QUOTES = "\"'"
_PLAIN = pattern(r"[A-Za-z0-9_./@-]{1,200}")
_VALUE = pattern(r":[ ]+([A-Za-z0-9_./@-]{1,200}|\"[^\"\\\n]{0,200}\"|'[^'\n]{0,200}')(?=\s+#|\s*(?:$|[,}\]]))")
"""After a key: a scalar on the same line, in a mapping of either style."""


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
    if item.is_waived or not item.help:
        return None
    if (listed := _LISTS.fullmatch(item.help)) is not None:
        return _listed(item.related[-1], listed[1]) if item.related else None
    return next((edit for at in _stretches(item.primary) if (edit := _edit(item, *at)) is not None), None)


def _edit(item: Diagnostic, start: Position, end: Position, token: str) -> Edit | None:
    if (steps := _steps(item, token)) is not None:
        return _nested(item.primary, start, end, steps)
    if (item.help or "").startswith(_QUOTE) and _behind(item.primary, end).lstrip().startswith(":"):
        return _quoted(item.primary, end)
    text = _text(item, token)
    if text is None or text == token:
        return None
    return Edit(path=item.primary.span.path, old=token, start=start, end=end, text=text)


def is_certain(item: Diagnostic) -> bool:
    """Whether a finding has one answer, also where it stands in a form that has no edit."""
    help_text = item.help or ""
    if item.is_waived or help_text.startswith((_QUOTE, _DOTS)):
        return not item.is_waived
    match = _MEANT.fullmatch(help_text)
    meant = match[1].rpartition(".")[2] if match is not None else ""
    words = (word.rpartition(".")[2] for word in _WORD.findall(item.message))
    return bool(meant) and any(nearest(word, [meant], certain=True) == meant for word in words)


def _steps(item: Diagnostic, key: str) -> list[str] | None:
    """The keys that have to stand below each other in the place of one."""
    help_text = item.help or ""
    if help_text.startswith(_DOTS):
        return key.split(".") if _PLAIN.fullmatch(key) and f"{key}`" in item.message else None
    there, here = _BELONGS.fullmatch(help_text), _NOT_READ.search(item.message)
    if there is None or here is None:
        return None
    above, steps = here[1].split(".")[:-1], there[1].split(".")
    own = key.strip(_QUOTES)
    is_below = steps[: len(above)] == above and len(steps) > len(above) + 1
    is_it = "." not in own and here[1].endswith(own) and flatten(steps[-1]) == flatten(own)
    return steps[len(above) :] if is_below and is_it else None


def _quoted(place: Location, end: Position) -> Edit | None:
    """Quotes around the scalar behind a key."""
    match = _VALUE.match(_behind(place, end))
    if match is None or match[1][0] in _QUOTES:
        return None
    start, after = (Position(end.line, end.column + match.start(1)), Position(end.line, end.column + match.end(1)))
    return Edit(path=place.span.path, old=match[1], start=start, end=after, text=json.dumps(match[1]))


def _nested(place: Location, start: Position, end: Position, steps: list[str]) -> Edit | None:
    """Keys in braces, where the value is a scalar behind the key."""
    match = _VALUE.match(_behind(place, end))
    if match is None:
        return None
    text = f"{': {'.join(steps)}: {match[1]}{'}' * (len(steps) - 1)}"
    after = Position(end.line, end.column + match.end(1))
    old = _behind(place, start)[: after.column - start.column]
    return Edit(path=place.span.path, old=old, start=start, end=after, text=text)


def _listed(place: Location, name: str) -> Edit | None:
    """One more item behind the one at `place`, in the style of its list."""
    stretch = next(_stretches(place), None)
    if stretch is None:
        return None
    start, end, token = stretch
    line = (place.source_line or "").rstrip("\r\n")
    before, after = line[: start.column - 1], line[end.column - 1 :]
    if before.strip() == "-":
        last = Position(start.line, len(line) + 1)
        return Edit(
            path=place.span.path, old=token + after, start=start, end=last, text=f"{token}{after}\n{before}{name}"
        )
    if "[" in before and after.lstrip().startswith("]"):
        return Edit(path=place.span.path, old=token, start=start, end=end, text=f"{token}, {name}")
    return None


def _behind(place: Location, start: Position) -> str:
    """The rest of the line."""
    return (place.source_line or "")[start.column - 1 :]


def _stretches(place: Location) -> Iterator[tuple[Position, Position, str]]:
    """What may be written over, and what stands there: the value, then the key."""
    for start, end in (place.value or (None, None), (place.span.start, place.span.end)):
        if start is None or end is None or start.line != end.line or place.source_line is None:
            continue
        token = place.source_line[start.column - 1 : end.column - 1]
        if token and len(token) == end.column - start.column:
            yield start, end, token


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
