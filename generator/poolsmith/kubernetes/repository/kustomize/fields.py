"""Where the fields of a kustomization stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

TRANSFORMER_FIELDS = ("patches", "patchesStrategicMerge", "patchesJson6902")
"""Fields that list files of patches."""


class Place:
    """The kustomization's own document."""

    def __init__(self, document: CheckedDocument) -> None:
        self._document = document

    @property
    def source(self) -> SourceFile:
        return self._document.source

    def pointer(self, pointer: str) -> str:
        """From a field of a kustomization to where it stands in the source."""
        return pointer

    def locate(self, pointer: str) -> Location:
        return self.source.locate(self.pointer(pointer))


class PlainPlace(Place):
    """Fields that stand in another object, below a pointer and with names of their own."""

    def __init__(self, source: SourceFile, pointer: str, names: Mapping[str, str]) -> None:
        self._source, self._top, self._names = source, pointer, names

    @property
    def source(self) -> SourceFile:
        return self._source

    def pointer(self, pointer: str) -> str:
        first, slash, rest = pointer[1:].partition("/")
        return f"{self._top}/{self._names.get(first, first)}{slash}{rest}"
