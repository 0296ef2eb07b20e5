"""YAML that stands as a text in YAML: values of an Application, files of a ConfigMap, patches of a kustomization.

A text in a literal block (`|`) has lines of its own in the user's file, so its places are told exactly; of a folded or
quoted one the place is the key that holds it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import Location, Position, Span
from poolsmith.core.sources.secret_scalars import Secrets, secrets_of_text
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_places import Marks

if TYPE_CHECKING:
    from poolsmith.core.sources.yaml_reader import YamlValue


class TextFile(SourceFile):
    """A file that is no YAML: one text, whose lines are those of the file."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text, None)

    @cached_property
    def _secrets(self) -> Secrets:
        return secrets_of_text(self.text)

    def _located(self, pointer: str, note: str | None) -> Location:
        return Location(span=Span(path=self.path), pointer=pointer, note=note, secrets=self._secrets.known)

    def block_of(self, pointer: str) -> tuple[int, int]:  # noqa: ARG002 - the whole file is one
        return 1, 0

    def line(self, number: int) -> str | None:
        lines = self.text.split("\n")
        return self._secrets.shown(number, lines[number - 1]) if 0 < number <= len(lines) else None


class InnerText(SourceFile):
    """One document of the text at `pointer` of `outer`; `data` is what the document holds.

    `document` counts from zero, as everywhere. Marks are made when a place is first asked for.
    """

    def __init__(self, outer: SourceFile, pointer: str, text: str, data: YamlValue, *, document: int = 0) -> None:
        super().__init__(outer.path, text, data, document=document)
        self._outer = outer
        self._pointer = pointer
        self._index = document

    @cached_property
    def _own_marks(self) -> Marks:
        return Marks(self.text, self._index)

    @cached_property
    def _block(self) -> tuple[int, int] | None:
        return self._outer.block_of(self._pointer)

    def _located(self, pointer: str, note: str | None) -> Location:
        at_key = self._outer.locate(self._pointer, note)
        extent = self._own_marks.key(pointer)
        start, end = extent if extent is not None else (Position(1, 1), Position(1, 1))
        outer_start = self.outer_position(start)
        if outer_start is None:
            return replace(at_key, pointer=self._pointer)
        span = Span(path=at_key.span.path, start=outer_start, end=self.outer_position(end) or outer_start)
        return replace(at_key, span=span, source_line=self.line(outer_start.line), value=self._value(pointer, start))

    def _value(self, pointer: str, start: Position) -> tuple[Position, Position] | None:
        """Where the scalar at `pointer` stands in the user's file."""
        extent = self._own_marks.value(pointer, start.line)
        first, last = map(self.outer_position, extent) if extent is not None else (None, None)
        return None if first is None or last is None else (first, last)

    def outer_position(self, inner: Position) -> Position | None:
        """Where a position of the text stands in the user's file; None where its lines are not those of the file."""
        if self._block is None:
            return None
        first, indent = self._block
        return Position(first + inner.line - 1, indent + inner.column)

    def line_of_text(self, pointer: str) -> int | None:
        """The line of the text, where that is not to be seen from the place: the text's lines are not the file's."""
        extent = self._own_marks.key(pointer)
        return extent[0].line if extent is not None and self.outer_position(extent[0]) is None else None

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        """A text within this text."""
        block = self._own_marks.block(pointer, self.text.splitlines())
        start = self.outer_position(Position(block[0], 1)) if block is not None else None
        return (start.line, start.column - 1 + block[1]) if block is not None and start is not None else None

    def line(self, number: int) -> str | None:
        """A line of the user's file."""
        return self._outer.line_of(self._pointer, number)
