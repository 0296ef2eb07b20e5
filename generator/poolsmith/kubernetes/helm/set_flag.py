"""Helm's `--set` grammar.

`a.b=1,c[0].d=x,e={p,q}`: dots nest, brackets index lists, braces make lists, a backslash takes the next character
as it is. true, false, null and integers are typed; everything else, fractions too, is a string.
"""

from __future__ import annotations

from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.helm.go_template import SetInteger

MAX_INDEX = 65536
MAX_NESTING = 30
_INTEGER = pattern(r"[-+]?[1-9][0-9]*\Z|[-+]0[0-9]*\Z")
_LONGEST_INTEGER = 1_000
"""More digits are out of any range, and Python refuses to read very many."""
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class SetError(ValueError):
    """What is wrong with a `--set` text."""


def apply_set(values: dict[str, Any], text: str) -> None:
    """Write the assignments in `text` into `values`. Raises SetError."""
    reader = _Reader(text)
    while not reader.done:
        _assign(values, reader, nesting=0)


class _Reader:
    """The text, one character at a time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def until(self, stops: str) -> tuple[str, str]:
        """What stands before the next of `stops`, escapes resolved, and the stop itself ("" at the end)."""
        out: list[str] = []
        while not self.done:
            char = self.text[self.at]
            self.at += 1
            if char in stops:
                return "".join(out), char
            if char == "\\" and not self.done:
                char = self.text[self.at]
                self.at += 1
            out.append(char)
        return "".join(out), ""

    def take(self, char: str) -> bool:
        """Step over `char` if it comes next."""
        if self.text.startswith(char, self.at):
            self.at += 1
            return True
        return False


def _assign(target: dict[str, Any], reader: _Reader, nesting: int) -> None:
    key, stop = reader.until(".=[,")
    if stop == "=":
        target[key] = _value(reader)
    elif stop == ".":
        _refuse_depth(nesting)
        inner = target.get(key)
        inner = inner if isinstance(inner, dict) else {}
        if reader.done:
            raise SetError(f"key map `{key}` has no value")
        _assign(inner, reader, nesting + 1)
        target[key] = inner
    elif stop == "[":
        below = target.get(key)
        target[key] = _item(list(below) if isinstance(below, list) else [], reader, nesting)
    else:
        raise SetError(f"key `{key}` has no value" + (" (cannot end with `,`)" if stop else ""))


def _item(items: list[Any], reader: _Reader, nesting: int) -> list[Any]:
    """`items` with what follows `[` written into it."""
    index = _index(reader)
    while len(items) <= index:
        items.append(None)
    _, stop = reader.until("[.=")
    if stop == "=":
        items[index] = _value(reader)
    elif stop == "[":
        below = items[index]
        items[index] = _item(list(below) if isinstance(below, list) else [], reader, nesting)
    elif stop == ".":
        _refuse_depth(nesting)
        below = items[index]
        inner = below if isinstance(below, dict) else {}
        _assign(inner, reader, nesting + 1)
        items[index] = inner
    else:
        raise SetError(f"list item {index} has no value")
    return items


def _index(reader: _Reader) -> int:
    text, stop = reader.until("]")
    if not stop:
        raise SetError("an index has no closing `]`")
    if not text.isascii() or not text.isdigit():
        raise SetError(f"the index `{text}` is not a number")
    if len(text) > len(str(MAX_INDEX)) or int(text) > MAX_INDEX:
        raise SetError(f"the index {text[:12]} is greater than {MAX_INDEX}")
    return int(text)


def _value(reader: _Reader) -> Any:
    if reader.take("{"):
        items: list[Any] = []
        while True:
            text, stop = reader.until(",}")
            if not stop:
                raise SetError("a list must end with `}`")
            if text or stop == "," or items:
                items.append(_typed(text))
            if stop == "}":
                reader.take(",")
                return items
    return _typed(reader.until(",")[0])


def _typed(text: str) -> Any:
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered == "null":
        return None
    if text == "0":
        return SetInteger(0)
    if len(text) <= _LONGEST_INTEGER and _INTEGER.match(text) and _INT64_MIN <= int(text) <= _INT64_MAX:
        return SetInteger(text)
    return text


def _refuse_depth(nesting: int) -> None:
    if nesting >= MAX_NESTING:
        raise SetError(f"nested deeper than {MAX_NESTING} levels")
