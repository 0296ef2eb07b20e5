"""User text and values made harmless and short, for whatever shows them."""

from __future__ import annotations

from typing import Any

from poolsmith.diagnostics.addresses import without_secrets

_LAST_LATIN_1 = 0xFF
_COMMAND = "::"
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
    return f"\\x{code:02x}" if code <= _LAST_LATIN_1 else f"\\u{code:04x}"
