"""Places in a file of many documents, composed once for all of them. Floor: sources."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.diagnostics.span import Location, Span
from poolsmith.sources.yaml_marks import Marks
from poolsmith.sources.yaml_reader import YamlProblem, compose

if TYPE_CHECKING:
    from yaml.nodes import Node


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

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.splitlines()

    def locate(self, document: int, pointer: str, note: str | None = None) -> Location:
        extent = self._documents[document].key(pointer) if document < len(self._documents) else None
        if extent is None:
            return Location(span=Span(path=self._path), pointer=pointer, note=note)
        start, end = extent
        line = self._lines[start.line - 1] if start.line <= len(self._lines) else None
        return Location(span=Span(path=self._path, start=start, end=end), pointer=pointer, note=note, source_line=line)


class _NodeMarks(Marks):
    """Marks of a node that is composed already."""

    def __init__(self, root: Node | None) -> None:
        super().__init__("")
        self._root = root
