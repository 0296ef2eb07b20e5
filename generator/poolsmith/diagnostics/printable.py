"""User text made harmless, for whatever shows it. Floor: diagnostics."""

from __future__ import annotations

_LAST_LATIN_1 = 0xFF


def printable(text: str) -> str:
    """User text without control characters: nothing in a profile may steer a terminal, a log or a page."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code <= _LAST_LATIN_1 else f"\\u{code:04x}"
