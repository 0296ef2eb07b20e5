"""Places inside the text of one YAML scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics.span import Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yaml.nodes import ScalarNode


def position_inside(node: ScalarNode, lines: Sequence[str], line: int, column: int) -> Position:
    """Where a place of the value stands in the file's `lines`; line and column count from 1.

    Exact for literal blocks and for values on one line without escapes; else the start of the value.
    """
    start = node.start_mark
    whole = Position(start.line + 1, start.column + 1)
    if node.style == "|":
        first = start.line + 1
        found = first + line - 1
        indent = _indent(lines[first : node.end_mark.line])
        return Position(found + 1, indent + column) if found < len(lines) else whole
    is_plain = not node.style
    if line == 1 and start.line == node.end_mark.line and (is_plain or _is_verbatim(node, lines)):
        return Position(start.line + 1, start.column + column + (0 if is_plain else 1))
    return whole


def _indent(lines: Sequence[str]) -> int:
    """Of a literal block; an explicit indicator is not looked at."""
    return next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)


def _is_verbatim(node: ScalarNode, lines: Sequence[str]) -> bool:
    text = lines[node.start_mark.line] if node.start_mark.line < len(lines) else ""
    return bool(text[node.start_mark.column + 1 : node.end_mark.column - 1] == node.value)
