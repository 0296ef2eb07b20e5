"""One file with one document of poolsmith's own kinds: its envelope, its typed spec, and its errors at their lines."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from poolsmith.core.diagnostics import Diagnostic, RuleInfo, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import kind_of, nearest, shorten
from poolsmith.core.record import record, replace
from poolsmith.core.shape.field import API_VERSION, BaseMetadata, Metadata, Shape
from poolsmith.core.shape.reader import INVALID, field_places, fields_of, reader_for
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from poolsmith.core.shape.layers import Layers
    from poolsmith.core.shape.reader import Reader
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile


ENVELOPE = ("apiVersion", "kind", "metadata", "spec")

MAX_FINDINGS = 200

Spec = TypeVar("Spec")


@record(frozen=False, kw_only=False)
class FileSink:
    """Collects what readers report about one file, or about the layers of one pool.

    With `only_missing`, everything else has been reported before, file by file. `elsewhere`: the document is none of
    those that stand here, and nothing more is said of it. `misspelt` are keys at the top that stand there in another
    spelling. `specs` are searched for fields that
    stand in the wrong place.
    """

    place: SourceFile | Layers
    subject: str = ""
    partial: bool = False
    only_missing: bool = False
    guessed: bool = False
    elsewhere: bool = False
    misspelt: tuple[str, ...] = ()
    specs: tuple[type, ...] = ()
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, rule: RuleInfo, pointer: str, message: str, help: str | None = None) -> None:
        if self.elsewhere or (self.only_missing and rule is not codes.MISSING_FIELD):
            return
        if len(self.found) > MAX_FINDINGS:
            return
        if len(self.found) == MAX_FINDINGS:
            rule, pointer, help = reading.INPUT_LIMIT, "", "correct these first"
            message = f"the file has more than {MAX_FINDINGS} mistakes; the rest is not reported"
        location = self.place.locate(pointer)
        self.found.append(diagnose(rule, message, location, help=help, subject=self.subject))

    def written(self, pointer: str) -> str | None:
        return self.place.written(pointer)

    def places_of(self, key: str) -> tuple[str, ...]:
        return field_places(self.specs).get(key, ())


def kind_in(file: SourceFile) -> str:
    kind = file.data.get("kind")
    return kind if isinstance(kind, str) else ""


def read_envelope(
    file: SourceFile, expected: str, sink: FileSink, of: type[Metadata | BaseMetadata] = Metadata
) -> Metadata | None:
    """Check apiVersion, kind, metadata and unknown top-level keys; the metadata when it is sound."""
    data = file.data
    if _report_other_kind(file, expected, sink):
        return None
    metadata_class: type = of
    metadata_fields = fields_of(metadata_class)
    for key in data:
        if key not in ENVELOPE:
            known = nearest(key, ENVELOPE)
            sink.misspelt = (*sink.misspelt, known) if known is not None else sink.misspelt
            place = "metadata" if key in metadata_fields else next(iter(sink.places_of(key)), "")
            under = f"it belongs under `{place}`" if place else "it may belong under `spec`"
            advice = f"did you mean `{known}`?" if known else under
            message = f"the document has no field `{shorten(key)}`"
            sink.report(codes.UNKNOWN_FIELD, join("", key), message, advice)
    _read_constant(data, "apiVersion", API_VERSION, sink)
    _read_constant(data, "kind", expected, sink)
    metadata = _required(data, "metadata", sink)
    if metadata is None:
        return None
    whole = replace(sink, partial=False)
    result: Metadata | None = _read(of, metadata, "/metadata", whole)
    sink.guessed = sink.guessed or whole.guessed
    return result


def _report_other_kind(file: SourceFile, expected: str, sink: FileSink) -> bool:
    """One finding on a document that belongs elsewhere, by its kind; its fields are those of another kind."""
    kind, version = kind_in(file), file.data.get("apiVersion")
    if not kind or kind == expected:
        return False
    from poolsmith.core.shape.kind_places import place_of  # on demand: only mistakes need it

    place = place_of(kind, file.path)
    if version != API_VERSION and isinstance(version, str) and place is None and nearest(kind, [expected]) is None:
        message = f"this is a `{shorten(kind)}` of `{shorten(version)}`, and here stands a `{expected}`"
        advice = f"move it to a folder where it is delivered; here write `kind: {expected}`"
    elif place is not None and version == API_VERSION:
        message = f"`kind` is `{kind}`, and this is the place of a `{expected}`"
        advice = f"move it to {place}, or write `kind: {expected}`"
    else:
        return False
    sink.report(reading.UNKNOWN_KIND, "/kind", message, advice)
    sink.elsewhere = True
    return True


def read_spec(cls: type[Spec], spec: Any, sink: FileSink) -> Spec | None:
    """The spec as this type, or None after its mistakes were reported."""
    result: Spec | None = _read(cls, spec, "/spec", sink)
    return result


def _read(cls: Any, value: Any, pointer: str, sink: FileSink) -> Any:
    result = _reader(cls)(value, pointer, sink)
    return None if result is INVALID else result


@cache
def _reader(cls: Any) -> Reader:
    """Made when the first document of its kind is read."""
    return reader_for(cls, Shape(doc=""))


def required_spec(file: SourceFile, sink: FileSink) -> Any:
    return _required(file.data, "spec", sink)


def _required(data: dict[str, Any], key: str, sink: FileSink) -> Any:
    value = data.get(key)
    if value is None and key not in sink.misspelt:
        sink.report(codes.MISSING_FIELD, f"/{key}", f"the document lacks `{key}`", f"add `{key}`")
    return value


def _read_constant(data: dict[str, Any], key: str, expected: str, sink: FileSink) -> None:
    if key not in data or data[key] is None:
        if key not in sink.misspelt:
            sink.report(codes.MISSING_FIELD, f"/{key}", f"the document lacks `{key}`", f"add `{key}: {expected}`")
    elif data[key] != expected:
        value = data[key]
        shown = f"`{shorten(value)}`" if isinstance(value, str) else kind_of(value)
        sink.report(
            reading.UNKNOWN_KIND,
            f"/{key}",
            f"`{key}` is {shown}, not `{expected}`",
            f"write `{key}: {expected}`",
        )


@record(kw_only=False)
class KindDocument(Generic[Spec]):
    """A sound document, and where it stands."""

    file: SourceFile
    metadata: Metadata
    spec: Spec


def load_kind_document(
    tree: InputTree, path: str, kind: str, spec: type[Spec]
) -> tuple[KindDocument[Spec] | None, tuple[Diagnostic, ...]]:
    """The document when it is sound, and all that is wrong with it."""
    file = tree.read_profile(path)
    if isinstance(file, Diagnostic):
        return None, (file,)
    sink = FileSink(file, subject=path, specs=(spec,))
    metadata = read_envelope(file, kind, sink)
    raw = required_spec(file, sink)
    found = read_spec(spec, raw, sink) if raw is not None else None
    problems = (*file.problems, *sink.found)
    if metadata is None or found is None or problems or sink.guessed:
        return None, problems
    return KindDocument(file, metadata, found), ()
