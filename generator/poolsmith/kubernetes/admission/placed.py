"""Objects of any file with the way back to its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.stream_places import StreamPlaces
from poolsmith.core.sources.text_file import read_yaml_documents
from poolsmith.kubernetes.objects_file import nothing_in, unfold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location

_KIND = "/kind"


@record(kw_only=False)
class PlacedObject:
    """One object; `pointer` leads to it inside its document, which may be a list of objects."""

    body: dict[str, Any]
    places: StreamPlaces
    document: int = 0
    pointer: str = ""

    def locate(self, pointer: str = "/metadata/name", note: str | None = None) -> Location:
        return self.places.locate(self.document, self.pointer + pointer, note)

    def inside(self, pointer: str, line: int, column: int) -> Location:
        """A place in the text that stands at a pointer; line and column count from 1 within that text."""
        return self.places.inside(self.document, self.pointer + pointer, line, column)

    @property
    def api_version(self) -> str:
        return word(self.body.get("apiVersion"))

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def kind(self) -> str:
        return word(self.body.get("kind"))

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(mapping(self.body.get("metadata")))

    @property
    def name(self) -> str:
        """The name alone; of an object that has none, how its name would begin."""
        metadata = mapping(self.body.get("metadata"))
        return word(metadata.get("name")) or word(metadata.get("generateName"))

    @property
    def namespace(self) -> str:
        return word(mapping(self.body.get("metadata")).get("namespace"))

    @property
    def shown(self) -> str:
        """Kind/name, for messages."""
        return f"{self.kind}/{self.name}" if self.name else self.kind


def placed_objects(path: str, text: str) -> tuple[PlacedObject, ...] | Diagnostic:
    """The mappings with a kind in a stream of YAML or JSON, lists unfolded; or why the text can't be read."""
    documents = read_yaml_documents(text, path)
    if isinstance(documents, Diagnostic):
        return documents
    if all(document is None for document in documents):
        return nothing_in(path, text)
    return tuple(_placed(documents, StreamPlaces(path, text)))


def _placed(documents: list[Any], places: StreamPlaces) -> Iterator[PlacedObject]:
    for index, document in enumerate(documents):
        if document is None:
            continue
        for pointer, body in unfold(document):
            yield PlacedObject(body if isinstance(body, dict) else {}, places, index, pointer)
