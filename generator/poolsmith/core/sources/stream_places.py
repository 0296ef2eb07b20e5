"""Places in a file of many documents, composed once for all of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.span import Location, Position, Span
from poolsmith.core.sources.secret_scalars import Secrets, secrets_of
from poolsmith.core.sources.yaml_marks import Marks
from poolsmith.core.sources.yaml_reader import YamlProblem, compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yaml.nodes import Node, ScalarNode


class StreamPlaces:
    """As SourceFile.locate, for any document of the text. Nothing is composed before somebody asks."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    @cached_property
    def _documents(self) -> list[Marks]:
        found: list[Marks] = []
        try:
            found.extend(_NodeMarks(node) for node in compose(self._text))
        except YamlProblem:
            return found
        return found

    def marks(self, document: int) -> Marks:
        """The places in one document; in one that does not exist there are none."""
        return self._documents[document] if document < len(self._documents) else _NodeMarks(None)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the whole text."""
        return self._text.splitlines()

    @cached_property
    def secrets(self) -> Secrets:
        """Those of all documents."""
        return secrets_of(self._text, (marks.root for marks in self._documents), self.lines)

    def locate(self, document: int, pointer: str, note: str | None = None) -> Location:
        extent = self._documents[document].key(pointer) if document < len(self._documents) else None
        return self._place(extent, pointer, note)

    def _place(self, extent: tuple[Position, Position] | None, pointer: str, note: str | None = None) -> Location:
        secrets = self.secrets
        if extent is None:
            return Location(span=Span(path=self._path), pointer=pointer, note=note, secrets=secrets.known)
        start, end = extent
        line = secrets.shown(start.line, self.lines[start.line - 1]) if start.line <= len(self.lines) else None
        span = Span(path=self._path, start=start, end=end)
        return Location(span=span, pointer=pointer, note=note, source_line=line, secrets=secrets.known)

    def inside(self, document: int, pointer: str, line: int, column: int) -> Location:
        """A place in the text that stands at `pointer`; line and column count from 1 within that text."""
        node = self._documents[document].scalar(pointer) if document < len(self._documents) else None
        if node is None:
            return self.locate(document, pointer)
        start = position_inside(node, self.lines, line, column)
        return self._place((start, Position(start.line, start.column + 1)), pointer)


class _NodeMarks(Marks):
    """Marks of a node that is composed already."""

    def __init__(self, root: Node | None) -> None:
        super().__init__("")
        self._root = root


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
