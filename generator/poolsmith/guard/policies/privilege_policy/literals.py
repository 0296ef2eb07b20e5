"""Plain data as CEL literals, over several lines, in parts of bounded size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST = 60_000
"""Code points of one literal. The API server refuses an expression of more than 100,000."""

_NEEDS_ESCAPE = re.compile(r"[^ -&(-\[\]-~]")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text_literal(text: str) -> str:
    """A string in single quotes; what is no printable ASCII is escaped."""
    return f"'{_NEEDS_ESCAPE.sub(_escaped, text)}'"


def list_literal(texts: Iterable[str], indent: str = "") -> str:
    """A list of strings, one on each line."""
    lines = [f"{indent}  {text_literal(text)}" for text in texts]
    # an empty literal has no type of its own
    return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "['']"


def map_literals(values: Mapping[str, str | tuple[str, ...]]) -> tuple[str, ...]:
    """One map or several, none longer than LONGEST unless a single entry is."""
    parts: list[list[str]] = [[]]
    size = 0
    for key, value in values.items():
        shown = text_literal(value) if isinstance(value, str) else list_literal(value, "  ")
        entry = f"  {text_literal(key)}: {shown}"
        if parts[-1] and size + len(entry) > LONGEST:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += len(entry) + 2
    return tuple("{\n" + ",\n".join(part) + "\n}" for part in parts)


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the range of \u
