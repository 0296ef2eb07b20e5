"""Plain data to YAML text that no reader misreads.

Every YAML library writes some strings that Kubernetes reads as something else (`y`, `1e3`, `0o7`). Here a
string is plain only when YAML 1.1, YAML 1.2 and Kubernetes agree that it is one. Block style, two blanks,
indented lists, keys in the order given, no anchors, no folding, LF.
"""

from __future__ import annotations

import marshal
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import escaped
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.core.sources.yaml_reader import YamlValue

_PLAIN = pattern(r"[A-Za-z_/][A-Za-z0-9_./+=@,()-]*(?:[: ]+[A-Za-z0-9_./+=@,()-]+)*\Z")
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"))
_COMMAND_MARK = r"#(?=#(?:\[|vso\[|teamcity\[))"
_NEEDS_ESCAPE = pattern(
    r'["\\\x00-\x1f\x7f-\x9f\xad\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]'
    rf"|{_COMMAND_MARK}"
)
_LONGEST_SIMPLE_KEY = 1000  # YAML readers look for the colon in the next 1024 characters only
_NAMED_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_FITS_BLOCK = pattern(r"[^\n\t \x00-\x1f\x7f-\x9f\xad\u2028\u2029\ufeff]")
_BREAKS_BLOCK = pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u2028\u2029\ufeff\ufffe\uffff\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
    rf"|[ \t]\n|[ \t]\Z|^[ \t]*::|{_COMMAND_MARK}",
    re.MULTILINE,
)


def emit(
    value: YamlValue,
    *,
    header: Sequence[str] = (),
    comments: Mapping[str, Sequence[str]] | None = None,
    indent_lists: bool = True,
) -> str:
    """One document. `header` and `comments` are lines without `#`; comments stand above their key.

    `comments` maps JSON pointers of mapping keys to lines.
    """
    packed = _packed(value) if comments is None else None
    body = _written(value, comments, indent_lists) if packed is None else _unpacked(packed, indent_lists)
    return comment(header) + body


_MOST_PACKED = 2048
"""Bytes of a tree whose text is remembered: pools that are alike have the same small objects."""


def _packed(value: YamlValue) -> bytes | None:
    """Equal trees as equal bytes (`tree_digest`); None of large ones, and of what is no plain tree."""
    try:
        packed = marshal.dumps(value, 2)
    except ValueError:
        return None
    return packed if len(packed) <= _MOST_PACKED else None


@lru_cache(maxsize=256)
def _unpacked(packed: bytes, indent_lists: bool) -> str:
    return _written(marshal.loads(packed), None, indent_lists)  # noqa: S302 - bytes of our own


def _written(value: YamlValue, comments: Mapping[str, Sequence[str]] | None, indent_lists: bool) -> str:
    out: list[str] = []
    writer = _Writer(out, comments, indent_lists=indent_lists)
    if isinstance(value, dict) and value:
        writer.mapping(value, "", "")
    elif isinstance(value, list) and value:
        writer.sequence(value, "", "")
    else:
        out.append(_line_or_block(value, "  "))
    return "".join(out)


def comment(lines: Sequence[str]) -> str:
    """The opening comment of a file."""
    return "".join(_comment(line, "") for line in lines)


def emit_all(values: Sequence[YamlValue], *, header: Sequence[str] = ()) -> str:
    """Several documents in one stream."""
    return "---\n".join(emit(value, header=() if index else header) for index, value in enumerate(values))


class _Writer:
    __slots__ = ("comments", "list_indent", "out")

    def __init__(self, out: list[str], comments: Mapping[str, Sequence[str]] | None, *, indent_lists: bool) -> None:
        self.out = out
        self.comments = comments
        self.list_indent = "  " if indent_lists else ""

    def mapping(self, mapping: dict[str, YamlValue], indent: str, pointer: str, first: str | None = None) -> None:
        """`first` is what stands before the first key when the mapping is a list item."""
        out = self.out
        prefix = indent if first is None else first
        for key, value in mapping.items():
            below = pointer
            if self.comments is not None:
                below = pointer + "/" + key.replace("~", "~0").replace("/", "~1")
                margin = prefix.removesuffix("- ")  # deeper, it would run into a block above
                out.extend(_comment(line, margin) for line in self.comments.get(below, ()))
            if isinstance(value, dict) and value:
                out.append(f"{prefix}{_key(key, indent)}:\n")
                self.mapping(value, indent + "  ", below)
            elif isinstance(value, list) and value:
                out.append(f"{prefix}{_key(key, indent)}:\n")
                self.sequence(value, indent + self.list_indent, below)
            else:
                out.append(f"{prefix}{_key(key, indent)}: {_line_or_block(value, indent + '  ')}")
            prefix = indent

    def sequence(self, sequence: list[YamlValue], indent: str, pointer: str) -> None:
        out = self.out
        for index, value in enumerate(sequence):
            below = pointer if self.comments is None else f"{pointer}/{index}"
            if isinstance(value, dict) and value:
                self.mapping(value, indent + "  ", below, first=indent + "- ")
            elif isinstance(value, list) and value:
                out.append(f"{indent}-\n")
                self.sequence(value, indent + "  ", below)
            else:
                out.append(f"{indent}- {_line_or_block(value, indent + '  ')}")


def _key(text: str, indent: str) -> str:
    """What stands before the colon; a long key takes the explicit form."""
    written = _string(text)
    return written if len(written) <= _LONGEST_SIMPLE_KEY else f"? {written}\n{indent}"


@lru_cache(maxsize=256)
def _comment(line: str, indent: str) -> str:
    """A comment line; whatever could end the comment is made harmless."""
    clean = _NEEDS_ESCAPE.sub(_escape_in_comment, line).rstrip()
    return f"{indent}# {clean}\n" if clean else f"{indent}#\n"


def _escape_in_comment(match: re.Match[str]) -> str:
    return match[0] if match[0] in '"\\\t' else _escape(match)


def _leaf(value: YamlValue) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    raise TypeError(f"{type(value).__name__} has no YAML form here")


def _float(value: float) -> str:
    text = repr(value)
    if "e" in text and "." not in text:  # YAML 1.1 wants a dot before it believes in an exponent
        mantissa, _, exponent = text.partition("e")
        text = f"{mantissa}.0e{exponent}"
    if "n" in text:
        raise ValueError(f"{text} has no JSON form")
    return text


@lru_cache(maxsize=65536)
def _string(text: str) -> str:
    if _PLAIN.match(text) and ": " not in text and text.lower() not in _RESERVED:
        return text
    return quoted(text)


def scalar_text(text: str) -> str:
    """A text on one line, with quotes where YAML would read something else."""
    return _string(text) if "\n" not in text else quoted(text)


def quoted(text: str) -> str:
    """`text` in double quotes, on one line."""
    escaped_text = _NEEDS_ESCAPE.sub(_escape, text)
    if not escaped_text.isprintable():
        escaped_text = "".join(char if char.isprintable() else escaped(char) for char in escaped_text)
    return f'"{escaped_text}"'


def _escape(match: re.Match[str]) -> str:
    return _NAMED_ESCAPES.get(match[0]) or escaped(match[0])


def _line_or_block(value: YamlValue, indent: str) -> str:
    """With the end of its last line."""
    if not isinstance(value, str) or "\n" not in value:
        return f"{_leaf(value)}\n"
    return _lines(value, indent) if len(value) <= _MOST_PACKED else _lines.__wrapped__(value, indent)


@lru_cache(maxsize=256)
def _lines(text: str, indent: str) -> str:
    """Of several lines: a literal block, where that is safe."""
    if (
        _FITS_BLOCK.match(text) is None
        or _BREAKS_BLOCK.search(text) is not None
        or not text.replace("\n", "").replace("\t", "").isprintable()
    ):
        return f"{_string(text)}\n"
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    chomping = "-" if breaks == 0 else "" if breaks == 1 else "+"
    lines = [f"{indent}{line}\n" if line else "\n" for line in body.split("\n")]
    lines.extend("\n" for _ in range(breaks - 1))
    return f"|{chomping}\n{''.join(lines)}"
