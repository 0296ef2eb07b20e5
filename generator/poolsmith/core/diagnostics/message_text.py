"""Text for messages: user text made harmless and short, lists with a count and a plural, and the nearest known word."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.masking import without_secrets
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable


_LAST_LATIN_1 = 0xFF
_LAST_OF_PLANE_0 = 0xFFFF
_COMMAND = "::"
_COMMAND_LINES = pattern(r"^([ \t]*):(?=:)", re.MULTILINE)
COMMAND_MARK = "##"
COMMANDS = pattern(r"#(?=#(?:\[|vso\[|teamcity\[))")
"""How commands begin that build servers take anywhere in a line."""
MARK_ESCAPE = r"\\u0023"
"""Read as the same letter in JSON, and in YAML's double quotes."""
_LONGEST = 60


def printable(text: str) -> str:
    """User text without control characters: nothing in a profile may steer a terminal, a log or a page."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else escaped(char) for char in text)


def printable_line(text: str) -> str:
    """The same for text that begins a line: build servers take two colons there for a command."""
    shown = printable(text)
    bare = shown.lstrip()
    return f"{escaped(_COMMAND[0])}{bare[1:]}" if bare.startswith(_COMMAND) else shown


def shorten(text: str) -> str:
    """User text for a message: one line, no control characters, no secrets of addresses, of a bounded length."""
    shown = printable(without_secrets(text[: _LONGEST * 10])[:_LONGEST])
    return shown + "…" if len(text) > _LONGEST else shown


def one_line(text: str, limit: int) -> str:
    """Text of any layout, with single spaces."""
    return cut(" ".join(text.split()), limit)


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def cut_inside(text: str, limit: int) -> str:
    """Without its middle where it is too long: what failed is told first, and why last."""
    if len(text) <= limit:
        return text
    end = limit // 2
    return f"{text[: limit - end - 1]}…{text[-end:]}"


def kind_of(value: Any) -> str:
    """What a value of YAML or JSON is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a mapping"


def escaped(char: str) -> str:
    code = ord(char)
    if code <= _LAST_LATIN_1:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_OF_PLANE_0 else f"\\U{code:08x}"


def harmless(text: str, *, with_commands: bool = False) -> str:
    """A whole text, of many lines, that steers neither a terminal nor a build server, whatever users wrote into it.

    What is harmless already stays as it is, line breaks and tabs included. `with_commands` is for a report that gives
    commands to the build server itself.
    """
    lines = text.split("\n")
    if not all(map(str.isprintable, lines)):
        lines = [line if line.isprintable() else _without_control(line) for line in lines]
        text = "\n".join(lines)
    if COMMAND_MARK in text:
        text = COMMANDS.sub(MARK_ESCAPE, text)
    return text if with_commands or _COMMAND not in text else _COMMAND_LINES.sub(r"\1\\x3a", text)


def _without_control(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else escaped(char) for char in line)


_SHOWN = 12


def listed(words: Iterable[str], limit: int = _SHOWN) -> str:
    """Words in backticks, cut after `limit` with a count of the rest."""
    return joined([f"`{word}`" for word in words], limit)


def joined(phrases: Iterable[str], limit: int, between: str = ", ") -> str:
    """Phrases as they are, cut the same way. After semicolons the rest is a phrase too."""
    known = list(phrases)
    rest = len(known) - limit
    shown = between.join(known[:limit])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(number: int, word: str) -> str:
    """`1 node`, `1,200 nodes`."""
    return f"{number:,} {plural(number, word)}"


def plural(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"


_CUTOFF = 0.6
_SHORTEST, _LONGEST_WORD = 3, 80
"""Words that any three letters are alike to, and those that nobody compares."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help sentence: the nearest known word, else as many known ones as fit one line."""
    candidates = list(known)
    match = nearest(word, candidates)
    if match is not None:
        return f"did you mean `{match}`?"
    return "known: " + listed(candidates) if candidates else "none is known"


def meant_one(word: str, known: Iterable[str]) -> str | None:
    """A help sentence where a known word is near; who has listed the known ones already needs no other."""
    match = nearest(word, known)
    return None if match is None else f"did you mean `{match}`?"


def nearest(word: str, known: Iterable[str], *, certain: bool = False) -> str | None:
    """The known word that differs in case and separators only, else the one that others spell so, else the one that
    is one edit away, else the most similar one.

    With `certain`, the last is left out.
    """
    candidates = tuple(known)
    if len(word) > _LONGEST_WORD:
        return _same(flatten(word), candidates)
    return _nearest(word, candidates, certain=certain)


def _same(flat: str, candidates: tuple[str, ...]) -> str | None:
    return next((candidate for candidate in candidates if flatten(candidate) == flat), None)


@lru_cache(maxsize=512)
def _nearest(word: str, candidates: tuple[str, ...], *, certain: bool) -> str | None:
    """The same mistake stands in many files."""
    flat = flatten(word)
    if (same := _same(flat, candidates)) is not None:
        return same
    from poolsmith.core.diagnostics.other_words import other_word  # start-up: only mistakes need it

    if (meant := other_word(word, candidates)) is not None:
        return meant
    from difflib import SequenceMatcher, get_close_matches  # start-up: only mistakes need it

    near = [candidate for candidate in candidates if len(candidate) > 1 and one_edit(flat, flatten(candidate))]
    if near:
        matcher = SequenceMatcher(b=flat)

        def rank(candidate: str) -> tuple[bool, float]:
            matcher.set_seq1(flatten(candidate))
            return sorted(flatten(candidate)) == sorted(flat), matcher.ratio()

        return max(near, key=rank)
    if certain or len(flat) <= _SHORTEST:
        return None
    found = get_close_matches(word, candidates, n=1, cutoff=_CUTOFF)
    return found[0] if found else None


def one_edit(left: str, right: str) -> bool:
    """Whether one letter dropped, added, replaced or swapped with its neighbour makes one word of the other."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    short, long = sorted((left, right), key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]
