"""A file that is no YAML, with the places of what was read from it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Any

from poolsmith.core.diagnostics.diagnostic import Location, Position, Span
from poolsmith.core.sources.pointer import parent
from poolsmith.core.sources.source_file import SourceFile


class LinedText:
    """A text of which many places are asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def position(self, at: int) -> Position:
        line = bisect_right(self._line_starts, at)
        return Position(line, at - self._line_starts[line - 1] + 1)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(r"\n", self.text))]


class PlacedSource(SourceFile):
    """`starts` are the places of keys by pointer, `texts` first line and indentation of texts with lines of their own.

    No line is shown: which of them hold secrets is known of YAML alone.
    """

    def __init__(
        self,
        path: str,
        text: str,
        data: Any,
        starts: dict[str, tuple[Position, Position]],
        texts: dict[str, tuple[int, int]],
    ) -> None:
        super().__init__(path, text, data)
        self._starts = starts
        self._texts = texts

    def _located(self, pointer: str, note: str | None) -> Location:
        known = pointer
        while known and known not in self._starts:
            known = parent(known)
        extent = self._starts.get(known)
        span = Span(path=self.path) if extent is None else Span(path=self.path, start=extent[0], end=extent[1])
        return Location(span=span, pointer=pointer, note=note)

    def line(self, number: int) -> str | None:  # noqa: ARG002 - see the class
        return None

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        return self._texts.get(pointer)

    def written(self, pointer: str) -> str | None:  # noqa: ARG002 - asked of YAML alone
        return None
