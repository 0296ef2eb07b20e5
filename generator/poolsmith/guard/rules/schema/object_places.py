"""Where something stands in an object that a schema or a standard judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.stream_places import StreamPlaces
from poolsmith.kubernetes.repository.delivered import Delivered

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument


class Places:
    """Files are composed anew only where something is to be located, and once."""

    def __init__(self) -> None:
        self._by_path: dict[str, StreamPlaces] = {}

    def of(self, document: CheckedDocument) -> StreamPlaces | DeliveredPlaces:
        if isinstance(document, Delivered):
            return DeliveredPlaces(document)
        places = self._by_path.get(document.path)
        if places is None:
            places = self._by_path[document.path] = StreamPlaces(document.path, document.text)
        return places


class DeliveredPlaces:
    """The same of an object that several files make."""

    def __init__(self, document: Delivered) -> None:
        self._document = document

    def locate(self, _document: int, pointer: str, note: str | None = None) -> Location:
        return self._document.source.locate(pointer, note)

    def inside(self, _document: int, pointer: str, _line: int, _column: int) -> Location:
        return self._document.source.locate(pointer)
