"""Privilege grants: the files of `policies/privileges/`, each with one grant or several documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.message_text import kind_of, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.documents import FileSink, read_envelope, read_spec, required_spec
from poolsmith.core.shape.review import DATE, is_placeholder
from poolsmith.core.sources.input_tree import yaml_diagnostic
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.guard.ledger.grants.grant import (
    GRANT,
    GrantedToken,
    GrantSpec,
    PrivilegeGrant,
    last_day_of,
    parse_privileges,
)
from poolsmith.guard.ledger.privilege import PrivilegeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.sources.input_tree import InputTree


MAX_GRANTS = 2_000
MAX_PRIVILEGES = 50_000


@record(kw_only=False)
class LoadedGrant:
    """A grant, and the document of a file that holds it."""

    grant: PrivilegeGrant
    file: SourceFile


def load_grants(tree: InputTree, paths: Iterable[str]) -> tuple[tuple[LoadedGrant, ...], tuple[Diagnostic, ...]]:
    """The grants of these files in their order, and what is wrong with them.

    A grant with a mistake in a privilege or in its day is among them, without that privilege or day; one whose shape
    is wrong is not.
    """
    grants: list[LoadedGrant] = []
    problems: list[Diagnostic] = []
    named: dict[str, LoadedGrant] = {}
    privileges = 0
    for path in paths:
        for file in _documents(tree, path, problems):
            loaded = _load(file, problems)
            if loaded is None:
                continue
            if (first := named.setdefault(loaded.grant.name, loaded)) is not loaded:
                problems.append(_same_name(loaded, first))
                continue
            privileges += len(loaded.grant.tokens)
            if len(grants) == MAX_GRANTS or privileges > MAX_PRIVILEGES:
                message = (
                    f"more than {MAX_GRANTS:,} grants, or {MAX_PRIVILEGES:,} privileges in them; the rest is not read"
                )
                problems.append(diagnose(reading.INPUT_LIMIT, message, whole_file(path)))
                return tuple(grants), tuple(problems)
            grants.append(loaded)
    return tuple(grants), tuple(problems)


def _documents(tree: InputTree, path: str, problems: list[Diagnostic]) -> Iterator[SourceFile]:
    text = tree.read_text(path)
    if isinstance(text, Diagnostic):
        problems.append(text)
        return
    duplicates: list[YamlProblem] = []
    try:
        documents = read_documents(text, duplicates)
    except YamlProblem as problem:
        problems.append(yaml_diagnostic(path, text, problem))
        return
    problems.extend(yaml_diagnostic(path, text, problem) for problem in duplicates)
    places = StreamPlaces(path, text)
    if all(data is None for data in documents):
        what = "comments only" if text.strip() else "nothing"
        problems.append(diagnose(reading.EMPTY_DOCUMENT, f"the file holds {what}", whole_file(path)))
    for index, data in enumerate(documents):
        if isinstance(data, dict):
            yield SourceFile(path, text, data, document=index, stream=places)
        elif data is not None:
            message = f"document {index + 1} is {kind_of(data)}, not a mapping"
            problems.append(diagnose(reading.NOT_A_MAPPING, message, places.locate(index, "")))


def _load(file: SourceFile, problems: list[Diagnostic]) -> LoadedGrant | None:
    sink = FileSink(file, subject=file.path)
    metadata = read_envelope(file, GRANT, sink)
    if metadata is not None:
        sink.subject = metadata.name
    raw = required_spec(file, sink)
    spec = read_spec(GrantSpec, raw, sink) if raw is not None else None
    grant = None
    if metadata is not None and spec is not None and not sink.guessed:
        tokens = _tokens(spec, sink)
        _check_day(spec, sink)
        grant = PrivilegeGrant(metadata=metadata, spec=spec, path=file.path, tokens=tokens)
    problems.extend(sink.found)
    return LoadedGrant(grant, file) if grant is not None else None


def _tokens(spec: GrantSpec, sink: FileSink) -> tuple[GrantedToken, ...]:
    tokens: dict[Any, GrantedToken] = {}
    for entry, text in enumerate(spec.privileges):
        pointer = f"/spec/privileges/{entry}"
        try:
            found = parse_privileges(text)
        except PrivilegeError as error:
            message = f"`spec.privileges[{entry}]`: {error}"
            sink.report(codes.INVALID_VALUE, pointer, message, "copy it from `poolsmith ledger` or privileges.yaml")
            continue
        for item in found:
            first = tokens.setdefault(item, GrantedToken(entry, item))
            if first.entry != entry:
                message = f"`{shorten(str(item))}` stands in `{shorten(spec.privileges[first.entry])}` already"
                sink.report(codes.DUPLICATE_ITEM, pointer, message, "keep one of them")
    return tuple(tokens.values())


def _check_day(spec: GrantSpec, sink: FileSink) -> None:
    """Text that stands in for a day that is still to be said is another rule's business."""
    if last_day_of(spec.expires) is None and not is_placeholder(spec.expires):
        from poolsmith.core.shape.mending import mended  # on demand

        message = f"`{shorten(spec.expires)}` is no day of the calendar"
        meant = mended(spec.expires, DATE)
        advice = f'write "{meant}"' if meant is not None else "write a day such as 2027-06-30"
        sink.report(codes.INVALID_VALUE, "/spec/expires", message, advice)


def _same_name(second: LoadedGrant, first: LoadedGrant) -> Diagnostic:
    pointer = "/metadata/name"
    return diagnose(
        codes.DUPLICATE_NAME,
        f"two grants have the name `{second.grant.name}`",
        second.file.locate(pointer),
        subject=second.grant.name,
        related=(first.file.locate(pointer, "the other one"),),
    )
