"""User text made harmless, for whatever shows it."""

from __future__ import annotations

_LAST_LATIN_1 = 0xFF
_COMMAND = "::"


def printable(text: str) -> str:
    """User text without control characters: nothing in a profile may steer a terminal, a log or a page."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_line(text: str) -> str:
    """The same for text that begins a line: build servers take two colons there for a command."""
    shown = printable(text)
    bare = shown.lstrip()
    return f"{_escaped(_COMMAND[0])}{bare[1:]}" if bare.startswith(_COMMAND) else shown


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code <= _LAST_LATIN_1 else f"\\u{code:04x}"
