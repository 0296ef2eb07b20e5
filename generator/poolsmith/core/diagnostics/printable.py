"""User text and values made harmless and short, for whatever shows them."""

from __future__ import annotations

import re
from typing import Any

from poolsmith.core.diagnostics.addresses import without_secrets

_LAST_LATIN_1 = 0xFF
_LAST_OF_PLANE_0 = 0xFFFF
_COMMAND = "::"
_COMMAND_LINES = re.compile(r"^([ \t]*):(?=:)", re.MULTILINE)
COMMAND_MARK = "##"
COMMANDS = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))")
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
