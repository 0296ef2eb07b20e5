"""One file with one document of our own kinds, typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.record import record
from poolsmith.core.shape.documents import FileSink, read_envelope, read_spec, required_spec

if TYPE_CHECKING:
    from poolsmith.core.shape.metadata import Metadata
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile

Spec = TypeVar("Spec")


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
    if metadata is None or found is None or problems:
        return None, problems
    return KindDocument(file, metadata, found), ()
