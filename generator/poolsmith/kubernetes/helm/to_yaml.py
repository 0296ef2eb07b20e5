"""The text of `{{ toYaml value }}`: what Helm's own writer lays out, letter for letter.

ConfigMaps of charts hold such texts, and pods restart by their hashes. Our own writer has another layout. Source:
go.yaml.in/yaml v2.4.2 (encode.go, emitterc.go, sorter.go), below sigs.k8s.io/yaml v1.6.0; sorted keys, lists at the
column of their key, texts of several words folded behind column 80.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cmp_to_key
from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.scalars import NotJsonError, resolve_plain
from poolsmith.kubernetes.helm.go_template import printed

_WIDTH = 80
_LONGEST_KEY = 128
"""Bytes; a longer key is written behind `?`."""
_LEAP_YEAR = 2000
_LEAST, _BEYOND = -(2**63), 2**64
_BASE_60 = pattern(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_CLOCK = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})(?:[.,][0-9]+)?"
_TIME = pattern(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    rf"(?:[Tt]{_CLOCK}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})| {_CLOCK.replace('<', '<own_')})?\Z"
)
_BREAKS = "\r\n\x85\u2028\u2029"
_NOT_PRINTED = pattern(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPED = pattern(r"[^\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_NAMED = {
    "\0": "0",
    "\x07": "a",
    "\x08": "b",
    "\t": "t",
    "\n": "n",
    "\x0b": "v",
    "\x0c": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\u2028": "L",
    "\u2029": "P",
}
_NOT_PLAIN = pattern(r"[#,\[\]{}&*!|>'\"%@`]|[?:-](?:[ \n]|\Z)|---|\.\.\.| |.*(?:: |:\Z| #| \Z)", re.DOTALL)


def to_yaml(value: Any) -> str:
    """Without the line break at its end, as Helm cuts it. `value` is plain data."""
    writer = _Writer()
    if isinstance(value, dict) and value:
        writer.mapping(value, 0)
    elif isinstance(value, list) and value:
        writer.sequence(value, 0)
    else:
        writer.leaf(value, 0)
    text = "".join(writer.out)
    return text.removesuffix("\n") if writer.column == 0 else text


class _Writer:
    """Collects the text; `column` is where the next letter goes."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.column = 0

    def write(self, text: str) -> None:
        self.out.append(text)
        _, line_break, last = text.rpartition("\n")
        self.column = len(last) + (0 if line_break else self.column)

    def start_line(self, indent: int) -> None:
        self.write(("\n" if self.column else "") + " " * indent)

    def mapping(self, mapping: dict[str, Any], indent: int, *, inline: bool = False) -> None:
        """`inline`: the first key stands where the writer is, behind a dash."""
        for key in sorted(mapping, key=cmp_to_key(_key_order)):
            if not inline:
                self.start_line(indent)
            inline = False
            if _is_simple(key):
                self.text(key, indent + 2, is_key=True)
                self.write(":")
                self.below(mapping[key], indent)
            else:
                self.write("? ")
                self.text(key, indent + 2)
                self.start_line(indent)
                self.write(": ")
                self.behind(mapping[key], indent + 2)

    def sequence(self, sequence: list[Any], indent: int, *, inline: bool = False) -> None:
        for item in sequence:
            if not inline:
                self.start_line(indent)
            inline = False
            self.write("- ")
            self.behind(item, indent + 2)

    def below(self, value: Any, indent: int) -> None:
        """The value of a key of a mapping at `indent`."""
        if isinstance(value, dict) and value:
            self.mapping(value, indent + 2)
        elif isinstance(value, list) and value:
            self.sequence(value, indent)
        else:
            self.write(" ")
            self.leaf(value, indent + 2)

    def behind(self, value: Any, indent: int) -> None:
        if isinstance(value, dict) and value:
            self.mapping(value, indent, inline=True)
        elif isinstance(value, list) and value:
            self.sequence(value, indent, inline=True)
        else:
            self.leaf(value, indent)

    def leaf(self, value: Any, indent: int) -> None:
        if isinstance(value, str):
            self.text(value, indent or 2)
        elif isinstance(value, dict | list):
            self.write("{}" if isinstance(value, dict) else "[]")
        elif value is None or isinstance(value, bool):
            self.write({None: "null", True: "true", False: "false"}[value])
        else:
            self.write(_number(value))

    def text(self, text: str, indent: int, *, is_key: bool = False) -> None:
        """In the first style that the writer has for it; `indent` is that of its further lines."""
        if "\n" in text and not is_key and _fits_block(text):
            self.block(text, indent)
        elif "\n" in text or not _stays_text(text) or _needs_escapes(text):
            self.write('"')
            self.folded(text, indent, is_key=is_key, style='"')
            self.write('"')
        elif _NOT_PLAIN.match(text) or any(letter in _BREAKS for letter in text):
            self.write("'")
            self.folded(text, indent, is_key=is_key, style="'")
            self.write("'")
        else:
            self.folded(text, indent, is_key=is_key, style="")

    def folded(self, text: str, indent: int, *, is_key: bool, style: str) -> None:
        after_blank = False
        for index, letter in enumerate(text):
            if letter != " ":
                self.write(_escaped(letter) if style == '"' else "''" if style == letter else letter)
            elif self._folds(text, index, style) and not (is_key or after_blank) and self.column > _WIDTH:
                self.write("\n" + " " * indent + ("\\" if text[index + 1 : index + 2] == " " else ""))
            else:
                self.write(" ")
            after_blank = letter == " "

    def _folds(self, text: str, index: int, style: str) -> bool:
        """Whether a line may end at a blank."""
        inside = 0 < index < len(text) - 1
        if style == '"':
            return inside
        return text[index + 1 : index + 2] != " " and (inside or not style)

    def block(self, text: str, indent: int) -> None:
        self.write("|")
        if text[0] in " \n":
            self.write("2")
        body = text.rstrip("\n")
        breaks = len(text) - len(body)
        self.write("-" if breaks == 0 else "+" if breaks > 1 or not body else "")
        self.write("\n")
        for line in text.removesuffix("\n").split("\n"):
            self.write(f"{' ' * indent}{line}\n" if line else "\n")
        if breaks == 0:
            self._take_break_back()

    def _take_break_back(self) -> None:
        last = self.out.pop().removesuffix("\n")
        self.out.append(last)
        self.column = len(last)


def _number(value: float) -> str:
    """An integer is one as long as it has 64 bits."""
    if value == int(value) and _LEAST <= value < _BEYOND:
        return str(int(value))
    return printed(value)


def _is_simple(key: str) -> bool:
    return len(key.encode()) <= _LONGEST_KEY and not any(letter in _BREAKS for letter in key)


def _stays_text(text: str) -> bool:
    """Whether the text is read back as itself where nothing stands around it."""
    if _BASE_60.match(text):
        return False
    time = _TIME.match(text)
    if time is not None and _is_moment(time):
        return False
    try:
        return isinstance(resolve_plain(text), str)
    except NotJsonError:
        return False


def _is_moment(found: re.Match[str]) -> bool:
    """Whether there is such a day and time; the writer knows a year zero, too."""
    numbers = {key.removeprefix("own_"): int(text) for key, text in found.groupdict().items() if text}
    try:
        datetime(**{**numbers, "year": numbers["year"] or _LEAP_YEAR})  # type: ignore[arg-type] # noqa: DTZ001 - only asked whether there is one
    except ValueError:
        return False
    return True


def _needs_escapes(text: str) -> bool:
    return _NOT_PRINTED.search(text) is not None or any(f" {letter}" in text for letter in _BREAKS)


def _fits_block(text: str) -> bool:
    return not (text.endswith(" ") or _needs_escapes(text))


def _escaped(letter: str) -> str:
    if not _ESCAPED.match(letter):
        return letter
    code = ord(letter)
    if letter in _NAMED:
        return f"\\{_NAMED[letter]}"
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"  # noqa: PLR2004 - widths of escapes


def _key_order(one: str, other: str) -> int:
    """Numbers in keys count as numbers; letters come behind everything else."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left == right:
            continue
        if left.isalpha() or right.isalpha():
            both = left.isalpha() and right.isalpha()
            return (-1 if left < right else 1) if both else (-1 if right.isalpha() else 1)
        return _number_order(one, other, index)
    return len(one) - len(other)


def _number_order(one: str, other: str, index: int) -> int:
    first = 1 if "0" in (one[index], other[index]) and _behind_a_digit(one[:index]) else 0
    numbers = [_digits(text, index, first) for text in (one, other)]
    if numbers[0] != numbers[1]:
        return -1 if numbers[0] < numbers[1] else 1
    return -1 if one[index] < other[index] else 1


def _behind_a_digit(above: str) -> bool:
    """Whether a digit other than zero stands in the number that ends here."""
    digits = above[len(above.rstrip("0123456789")) :]
    return digits.strip("0") != ""


def _digits(text: str, index: int, value: int) -> tuple[int, int]:
    """The number at a place, and where it ends."""
    while index < len(text) and text[index].isdecimal():
        value = value * 10 + ord(text[index]) - ord("0")
        index += 1
    return value, index
