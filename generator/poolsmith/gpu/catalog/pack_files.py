"""Packs of facts of a project: untrusted input, compared with their lock, or refused as a whole.

Nothing of a pack is executed, and nothing is taken from a path that the pack names: its files have the names of what
they hold. What is refused is a diagnostic at its place; the pack's releases are unknown then.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.reading import PACK_NOT_PINNED, PACK_REFUSED
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.facts import store
from poolsmith.core.facts.pack_merge import lines_in
from poolsmith.core.facts.packs import (
    ENTRIES,
    FACTS,
    FOLDER,
    FOLDERS,
    LOCK_NAME,
    MANIFEST,
    NO_PACKS,
    OTHER_CHARTS,
    STACK_CHARTS,
    TABLES,
    Pack,
    Packs,
)
from poolsmith.core.facts.table_merge import TABLES as TABLE_NAMES
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.sources.input_tree import read_bytes
from poolsmith.core.sources.source_file import digest
from poolsmith.gpu.catalog.pack_forms import form_problem
from poolsmith.gpu.catalog.pack_json import json_problem
from poolsmith.gpu.catalog.pack_kinds import LOCK, PACK, CatalogLockSpec, CatalogPackSpec
from poolsmith.gpu.catalog.pack_tables import corrections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.documents import KindDocument
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.gpu.catalog.pack_kinds import PinnedPack


LOCK_FILE = f"{FOLDER}/{LOCK_NAME}"
MAX_FILE_BYTES = 4 << 20
MAX_TOTAL_BYTES = 32 << 20
MAX_PACKS = 32
MAX_FILES = 400
_PIN = "`poolsmith catalog pin` pins what is there"


@record(kw_only=False)
class FoundPacks:
    """The packs that a project takes, and what is wrong with the others."""

    packs: Packs = NO_PACKS
    problems: tuple[Diagnostic, ...] = ()


def find_packs(tree: InputTree) -> FoundPacks:
    """All of a project; none where it has no folder for them."""
    if not os.path.lexists(os.path.join(tree.root, FOLDER)):  # noqa: PTH118 - a string, for start-up
        return FoundPacks()
    return _Finder(tree).found()


class PackProblem(Exception):  # noqa: N818 - it is what is wrong with a pack, and never leaves this module
    """Why a pack can't be taken."""

    def __init__(self, *problems: Diagnostic) -> None:
        super().__init__()
        self.problems = problems


class _Finder:
    """One look at a project's packs."""

    def __init__(self, tree: InputTree) -> None:
        self._tree = tree
        self._problems: list[Diagnostic] = []

    def found(self) -> FoundPacks:
        listing = self._tree.listing(FOLDER)
        self._problems += listing.problems
        stray = [name for name in listing.files if f"{FOLDER}/{name}" != LOCK_FILE and name.endswith((".yaml", ".yml"))]
        self._problems += [
            diagnose(reading.MISPLACED_FILE, "poolsmith does not look here", whole_file(f"{FOLDER}/{name}"))
            for name in stray
        ]
        lock = self._lock()
        if lock is None:
            return FoundPacks(problems=tuple(self._problems))
        pinned = {item.name: item for item in lock.spec.packs}
        for index, item in enumerate(lock.spec.packs):
            if item.name not in listing.folders or pinned[item.name] is not item:
                gone = "is pinned twice" if item.name in listing.folders else f"has no folder {FOLDER}/{item.name}/"
                place = lock.file.locate(f"/spec/packs/{index}/name")
                self._problems.append(diagnose(PACK_NOT_PINNED, f"the pack `{item.name}` {gone}", place))
        packs: list[Pack] = []
        for name in listing.folders[:MAX_PACKS]:
            try:
                packs.append(self._pack(name, pinned.get(name), packs))
            except PackProblem as problem:
                self._problems += problem.problems
        if len(listing.folders) > MAX_PACKS:
            message = f"there are more than {MAX_PACKS} packs; the others are not read"
            self._problems.append(diagnose(reading.INPUT_LIMIT, message, whole_file(FOLDER)))
        self._problems += [note for pack in packs for note in _corrected(pack)]
        return FoundPacks(Packs(tuple(packs)), tuple(self._problems))

    def _lock(self) -> KindDocument[CatalogLockSpec] | None:
        if not os.path.lexists(os.path.join(self._tree.root, LOCK_FILE)):  # noqa: PTH118 - as above
            message = "there is no lock, so no pack is taken"
            self._problems.append(diagnose(PACK_NOT_PINNED, message, whole_file(LOCK_FILE), help=_PIN))
            return None
        lock, problems = load_kind_document(self._tree, LOCK_FILE, LOCK, CatalogLockSpec)
        self._problems += problems
        return lock

    def _pack(self, name: str, pin: PinnedPack | None, others: list[Pack]) -> Pack:
        if pin is None:
            message = f"the pack `{name}` is not in {LOCK_FILE}"
            raise PackProblem(diagnose(PACK_NOT_PINNED, message, whole_file(f"{FOLDER}/{name}/{MANIFEST}"), help=_PIN))
        pack = sound_pack(self._tree, name, others)
        if pack.sha256 != pin.sha256 or pack.version != pin.version:
            message = (
                f"the pack `{name}` is version {pack.version} with {pack.sha256}; {LOCK_FILE} pins version "
                f"{pin.version} with {pin.sha256}"
            )
            raise PackProblem(diagnose(PACK_NOT_PINNED, message, whole_file(pack.path), help=_PIN))
        return pack


def _corrected(pack: Pack) -> Iterator[Diagnostic]:
    for table, key, words in corrections(pack):
        place = whole_file(f"{FOLDER}/{pack.name}/{TABLES}/{table}.json")
        message = f"the pack `{pack.name}` corrects the built-in row `{key}` of the table {table}: {words}"
        yield diagnose(reading.PACK_CORRECTS, message, place)


def sound_pack(tree: InputTree, name: str, others: list[Pack]) -> Pack:
    """A pack of a project beside others. Raises PackProblem."""
    pack = read_pack_folder(tree, f"{FOLDER}/{name}")
    for other in others:
        for tag in sorted(set(pack.releases) & set(other.releases)):
            raise PackProblem(diagnose(PACK_REFUSED, f"{tag} is in the pack `{other.name}` too", whole_file(pack.path)))
        for chart, number in sorted(set(pack.charts) & set(other.charts)):
            message = f"{chart} {number} is in the pack `{other.name}` too"
            raise PackProblem(diagnose(PACK_REFUSED, message, whole_file(pack.path)))
        for table in sorted(set(pack.tables) & set(other.tables)):
            both = set(pack.table(table).get("entries", ())) & set(other.table(table).get("entries", ()))
            if both:
                message = f"`{min(both)}` of the table {table} is in the pack `{other.name}` too"
                raise PackProblem(
                    diagnose(PACK_REFUSED, message, whole_file(f"{FOLDER}/{pack.name}/{TABLES}/{table}.json"))
                )
        said = lines_in(other)
        for line, (tag, facts) in lines_in(pack).items():
            if line in said and said[line][1] != facts:
                message = f"the pack `{other.name}` says other things of the line {line} than this one"
                place = whole_file(f"{FOLDER}/{name}/{FACTS}/{tag}.json")
                raise PackProblem(diagnose(PACK_REFUSED, message, place))
    return pack


def read_pack_folder(tree: InputTree, folder: str) -> Pack:
    """A pack, sound in itself. Raises PackProblem."""
    path = f"{folder}/{MANIFEST}"
    document, problems = load_kind_document(tree, path, PACK, CatalogPackSpec)
    if document is None:
        raise PackProblem(*problems)
    name = folder.rpartition("/")[2]
    if document.metadata.name != name:
        message = f"the pack is called `{document.metadata.name}`, and its folder `{name}`"
        raise PackProblem(diagnose(PACK_REFUSED, message, document.file.locate("/metadata/name")))
    problems = (*_of_built_in(document), *_listed(tree, folder, document))
    if problems:
        raise PackProblem(*problems)
    files = _contents(tree, folder, document)
    pack = Pack(
        name=name,
        version=document.spec.version,
        source=document.spec.source,
        path=path,
        sha256=digest(document.file.text.encode()),
        releases=tuple(document.spec.releases),
        files=files,
    )
    if not_understood := form_problem(pack):
        file, reason = not_understood
        message = f"the file is not what the catalog has of a release: {reason}"
        raise PackProblem(diagnose(PACK_REFUSED, message, whole_file(f"{folder}/{file}")))
    return pack


def _of_built_in(document: KindDocument[CatalogPackSpec]) -> Iterator[Diagnostic]:
    """What the pack may not bring."""
    known = built_in_releases()
    for index, tag in enumerate(document.spec.releases):
        if tag in known:
            message = f"{tag} is built in; a pack can't change what is known of it"
            advice = "take the pack out, with its line in the lock, and generate"
            yield diagnose(PACK_REFUSED, message, document.file.locate(f"/spec/releases/{index}"), help=advice)
    seen: set[str] = set()
    charts = (*OTHER_CHARTS, *(f"{STACK_CHARTS}/{name}" for name in store.built_in(STACK_CHARTS)))
    folders = tuple(sorted((*FOLDERS, TABLES, *charts)))
    for index, file in enumerate(document.spec.files):
        place = document.file.locate(f"/spec/files/{index}/path")
        kind, _, last = file.path.rpartition("/")
        tag = last.removesuffix(".json")
        if kind not in folders:
            yield diagnose(PACK_REFUSED, f"no facts are in `{kind}/`; {did_you_mean(kind, folders)}", place)
        elif file.path in seen:
            yield diagnose(PACK_REFUSED, f"`{file.path}` is listed twice", place)
        elif kind == TABLES or kind in charts:
            yield from _of_table_file(kind, tag, document.spec, place)
        elif tag not in document.spec.releases:
            yield diagnose(PACK_REFUSED, f"the pack does not say that it brings {tag}", place)
        elif kind in ENTRIES and tag in store.built_in(kind):
            yield diagnose(PACK_REFUSED, f"{file.path} is built in; a pack can't change it", place)
        seen.add(file.path)
    if len(document.spec.files) > MAX_FILES:
        message = f"the pack lists {len(document.spec.files):,} files; at most {MAX_FILES} are read"
        yield diagnose(reading.INPUT_LIMIT, message, document.file.locate("/spec/files"))


def _of_table_file(kind: str, name: str, spec: CatalogPackSpec, place: Location) -> Iterator[Diagnostic]:
    if kind == TABLES and name not in TABLE_NAMES:
        yield diagnose(PACK_REFUSED, f"there is no table `{name}`; {did_you_mean(name, TABLE_NAMES)}", place)
    elif (kind in OTHER_CHARTS and name in store.built_in(kind)) or name in _recorded(kind):
        yield diagnose(PACK_REFUSED, f"{kind}/{name}.json is built in; a pack can't change it", place)
    elif kind in OTHER_CHARTS and f"{TABLES}/{kind.rpartition('/')[2]}.json" not in {item.path for item in spec.files}:
        yield diagnose(PACK_REFUSED, f"no row of a table names the chart {kind}/{name}.json", place)


def _recorded(kind: str) -> tuple[str, ...]:
    """The versions of a chart beside the operator's whose values are built in."""
    return tuple(store.read_own_json(f"{kind}.json")["tags"]) if kind.startswith(STACK_CHARTS) else ()


def built_in_releases() -> frozenset[str]:
    """Those that clusters can be generated for without a pack."""
    return frozenset(store.read_own_yaml("releases.yaml")["releases"])


def _listed(tree: InputTree, folder: str, document: KindDocument[CatalogPackSpec]) -> Iterator[Diagnostic]:
    """What stands in the folder and is not in the manifest."""
    listed = {MANIFEST, *(file.path for file in document.spec.files)}
    folders = {path.rpartition("/")[0] for path in listed} | {path.split("/")[0] for path in listed if "/" in path}
    pending = [""]
    while pending:
        below = pending.pop()
        listing = tree.listing(f"{folder}/{below}".rstrip("/"))
        yield from listing.problems
        for name in listing.files:
            path = f"{below}/{name}" if below else name
            if path not in listed:
                message = "the manifest of the pack does not list this file"
                yield diagnose(PACK_REFUSED, message, whole_file(f"{folder}/{path}"))
        for name in listing.folders:
            path = f"{below}/{name}" if below else name
            if path in folders:
                pending.append(path)
            else:
                message = "no file of the pack's manifest is in this folder"
                yield diagnose(PACK_REFUSED, message, whole_file(f"{folder}/{path}"))


def _contents(tree: InputTree, folder: str, document: KindDocument[CatalogPackSpec]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    problems: list[Diagnostic] = []
    total = 0
    for index, file in enumerate(document.spec.files):
        shown = f"{folder}/{file.path}"
        full = os.path.join(tree.root, shown)  # noqa: PTH118 - a string, for speed
        if os.path.islink(full):  # noqa: PTH114 - as above
            raise PackProblem(diagnose(PACK_REFUSED, "a pack has no links", whole_file(shown)))
        content = read_bytes(full, shown, MAX_FILE_BYTES)
        if isinstance(content, Diagnostic):
            raise PackProblem(content)
        total += len(content)
        if total > MAX_TOTAL_BYTES:
            raise PackProblem(
                diagnose(reading.INPUT_LIMIT, f"the pack has more than {MAX_TOTAL_BYTES:,} bytes", whole_file(folder))
            )
        actual = digest(content)
        if actual != file.sha256:
            message = f"the hash of `{file.path}` is {actual}; the manifest has {file.sha256}"
            place = document.file.locate(f"/spec/files/{index}/sha256")
            problems.append(diagnose(PACK_NOT_PINNED, message, place))
        elif problem := json_problem(content, shown):
            problems.append(problem)
        found[file.path] = content
    if problems:
        raise PackProblem(*problems)
    return found
