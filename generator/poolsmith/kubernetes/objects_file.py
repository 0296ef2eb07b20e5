"""Kubernetes objects of any file, with the way back to its lines: YAML documents or JSON, lists unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Location, RuleInfo, diagnose, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import kind_of, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import read_text_file, read_yaml_documents
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_places import StreamPlaces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


MAX_OBJECTS_BYTES = 16 << 20
MAX_FINDINGS = 200


@record(kw_only=False)
class FileObject:
    """One object, and where it stands."""

    data: dict[str, Any]
    document: int
    pointer: str
    places: StreamPlaces

    def locate(self, pointer: str = "") -> Location:
        """The place of something inside it; by default, of its name."""
        return self.places.locate(self.document, self.pointer + (pointer or "/metadata/name"))

    @property
    def api_version(self) -> str:
        return str(self.data["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.data["kind"])

    @property
    def name(self) -> str:
        """Kind/name, for messages."""
        return f"{self.kind}/{self.data['metadata']['name']}"


@record(kw_only=False)
class ObjectsFile:
    """The sound objects of a file, and what is wrong with the others, or with all of it."""

    objects: tuple[FileObject, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


class FileFindings:
    """Collects what is wrong in one file, at its places."""

    def __init__(self, shown: str, text: str) -> None:
        self.shown = shown
        self.places = StreamPlaces(shown, text)
        self._found: list[Diagnostic] = []

    def report(self, rule: RuleInfo, document: int, pointer: str, message: str, help: str | None = None) -> None:
        if len(self._found) < MAX_FINDINGS:
            self._found.append(diagnose(rule, message, self.places.locate(document, pointer), help=help))
        elif len(self._found) == MAX_FINDINGS:
            message = f"the file has more than {MAX_FINDINGS} mistakes; the rest is not reported"
            self._found.append(diagnose(reading.INPUT_LIMIT, message, whole_file(self.shown)))

    def string_map(self, value: Any, document: int, pointer: str, what: str) -> dict[str, str]:
        """Labels or annotations; what is no string is reported and left out."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.report(codes.WRONG_TYPE, document, pointer, f"{what} are {kind_of(value)}; they have to be a mapping")
            return {}
        result: dict[str, str] = {}
        for key, item in value.items():
            if isinstance(item, str):
                result[key] = item
                continue
            message = f"{what}: `{shorten(key)}` is {kind_of(item)}; it has to be a string"
            if isinstance(item, bool | int | float):
                self.report(codes.AMBIGUOUS_SCALAR, document, join(pointer, key), message, "quote it")
            else:
                self.report(codes.WRONG_TYPE, document, join(pointer, key), message)
        return result

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        return sorted_unique(self._found)


def read_objects(file: Path, shown: str) -> ObjectsFile:
    """Objects with apiVersion, kind and a name; `kind: List` and its like stand for their items."""
    text = read_text_file(file, shown, MAX_OBJECTS_BYTES)
    if isinstance(text, Diagnostic):
        return ObjectsFile(problems=(text,))
    documents = read_yaml_documents(text, shown)
    if isinstance(documents, Diagnostic):
        return ObjectsFile(problems=(documents,))
    if all(document is None for document in documents):
        return ObjectsFile(problems=(nothing_in(shown, text),))
    findings = FileFindings(shown, text)
    objects = tuple(
        FileObject(body, index, pointer, findings.places)
        for index, document in enumerate(documents)
        if document is not None
        for pointer, body in unfold(document)
        if _is_object(body, index, pointer, findings)
    )
    return ObjectsFile(objects, findings.problems)


def nothing_in(shown: str, text: str) -> Diagnostic:
    what = "comments only" if text.strip() else "nothing"
    return diagnose(reading.EMPTY_DOCUMENT, f"the file holds {what}", whole_file(shown), help="name another file")


def unfold(document: Any) -> Iterator[tuple[str, Any]]:
    """What a document stands for, each with its pointer: itself, or its items where it is a list."""
    if isinstance(document, list):
        yield from ((f"/{index}", item) for index, item in enumerate(document))
    elif _is_list(document):
        yield from ((f"/items/{index}", item) for index, item in enumerate(document["items"]))
    else:
        yield "", document


def _is_list(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        return False
    kind = document.get("kind")
    return isinstance(kind, str) and kind.endswith("List")


def _is_object(body: Any, document: int, pointer: str, findings: FileFindings) -> bool:
    if not isinstance(body, dict):
        message = f"this is {kind_of(body)}, not a Kubernetes object"
        findings.report(reading.NOT_A_MAPPING, document, pointer, message, "write apiVersion, kind, metadata and spec")
        return False
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    sound = True
    for key, value in (("apiVersion", body.get("apiVersion")), ("kind", body.get("kind")), ("metadata/name", name)):
        shown = key.replace("/", ".")
        if value is None or value == "":
            findings.report(codes.MISSING_FIELD, document, pointer, f"the object lacks `{shown}`", f"add `{shown}`")
        elif not isinstance(value, str):
            message = f"`{shown}` is {kind_of(value)}; it has to be a string"
            findings.report(codes.WRONG_TYPE, document, f"{pointer}/{key}", message)
        else:
            continue
        sound = False
    return sound


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
