"""Use cases: a pack of facts made, taken from somebody, and pinned."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, PoolsmithError, UsageError, WriteError
from poolsmith.core.facts.packs import FOLDER, MANIFEST
from poolsmith.core.record import record
from poolsmith.core.shape.field import API_VERSION, DNS_LABEL
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.core.sources.input_tree import InputTree, read_bytes
from poolsmith.core.sources.output_tree import recover, stage
from poolsmith.core.sources.source_file import digest
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.pack_files import (
    LOCK_FILE,
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    PackProblem,
    read_pack_folder,
    sound_pack,
)
from poolsmith.gpu.catalog.pack_kinds import LOCK
from poolsmith.gpu.importing.operator_repository import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.facts.packs import Pack
    from poolsmith.gpu.importing.pack_import import MadePack

_RECORDS = (".json", ".yaml", ".yml")
_FACTS = ("release", "line", "matrix", "chart", "supported")


@record
class Pinned:
    """The packs that the lock lists now, or why it was not written."""

    packs: tuple[Pack, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def import_pack(
    root: Path, source: Path, release: str | None, *, name: str, like: str | None = None, facts: Path | None = None
) -> tuple[MadePack, Pinned]:
    """Make a pack below `root`, and pin it. Raises UsageError, PoolsmithError, WriteError.

    Of a release of the operator, by its chart or repository; or of rows of a table, by another chart or a record.
    """
    _sound_name(name)
    made = _of_rows(source, release, name)
    if made is None:
        from poolsmith.gpu.importing.pack_import import make_pack  # on demand

        made = make_pack(source, release, name=name, like=like, facts=_facts_in(facts))
    elif like is not None or facts is not None:
        raise UsageError("--like and --facts go with a release of the operator; rows of a table say all themselves")
    if made.failed:
        return made, Pinned()
    return made, _put(root, name, made.files)


def _of_rows(source: Path, release: str | None, name: str) -> MadePack | None:
    """None for what is to be read as a release of the operator."""
    from poolsmith.gpu.importing.table_import import chart_pack, is_table_source, record_pack  # on demand

    if source.is_file() and source.suffix in _RECORDS:
        content = read_bytes(source, str(source), MAX_FILE_BYTES)
        if isinstance(content, Diagnostic):
            raise UsageError(f"{source}: {content.message}")
        return record_pack(content, source.name, name=name)
    if (source / MANIFESTS.path).is_dir():
        return None
    files = read_chart_files(source)
    return chart_pack(files, name=name, release=release) if is_table_source(files) else None


def add_pack(root: Path, source: Path, sha256: str | None) -> Pinned:
    """Take a pack as somebody else made it: a folder, or a .tgz archive of one. Raises as `import_pack`.

    `sha256` is the hash of its manifest, as its maker told it.
    """
    files = read_chart_files(source)
    manifest = files.get(MANIFEST, b"")
    if sha256 is not None and sha256.removeprefix("sha256:") != digest(manifest).removeprefix("sha256:"):
        raise PoolsmithError(f"{source} is not the pack that --hash names: its {MANIFEST} has {digest(manifest)}")
    total = sum(map(len, files.values()))
    if total > MAX_TOTAL_BYTES or any(len(content) > MAX_FILE_BYTES for content in files.values()):
        raise PoolsmithError(f"{source} is larger than a pack may be")
    return _put(root, _name_in(manifest), files)


def pin_packs(root: Path) -> Pinned:
    """Write the lock for what stands there, unless one of the packs is refused. Raises UsageError, WriteError."""
    tree = InputTree(root)
    if not (root / FOLDER).is_dir():
        raise UsageError(f"{root} has no folder {FOLDER}")
    packs: list[Pack] = []
    problems: list[Diagnostic] = []
    for name in tree.listing(FOLDER).folders:
        try:
            packs.append(sound_pack(tree, name, packs))
        except PackProblem as problem:
            problems += problem.problems
    if problems:
        return Pinned(problems=tuple(problems))
    _write(root / LOCK_FILE, lock_text(packs).encode())
    return Pinned(packs=tuple(packs))


def lock_text(packs: list[Pack]) -> str:
    """profiles/_catalog/lock.yaml"""
    lines = [f"apiVersion: {API_VERSION}", f"kind: {LOCK}", "metadata: {name: catalog}", "spec:"]
    lines.append("  packs:" if packs else "  packs: []")
    for pack in packs:
        lines += [
            f"    - name: {pack.name}",
            f"      version: {json.dumps(pack.version)}",
            f"      sha256: {pack.sha256}",
        ]
    return "\n".join(lines) + "\n"


def _put(root: Path, name: str, files: Mapping[str, bytes]) -> Pinned:
    """The pack in its place and pinned; nothing of it where it is not sound."""
    with TemporaryDirectory() as elsewhere:
        for path, content in files.items():
            _write(Path(elsewhere) / FOLDER / name / path, content)
        try:
            read_pack_folder(InputTree(Path(elsewhere)), f"{FOLDER}/{name}")
        except PackProblem as problem:
            return Pinned(problems=problem.problems)
    target = root / FOLDER / name
    if (root / FOLDER).is_symlink() or target.is_symlink():
        raise WriteError(f"{target} is a symbolic link; nothing was written")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        recover(target.parent)
        stage(target, files, _there(target)).commit()
    except OSError as error:
        raise WriteError(f"{target} can't be written: {error.strerror or error}") from None
    return pin_packs(root)


def _facts_in(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    content = read_bytes(file, str(file), MAX_FILE_BYTES)
    if isinstance(content, Diagnostic):
        raise UsageError(f"{file}: {content.message}")
    try:
        found = read_documents(content.decode())[0]
    except (YamlProblem, UnicodeDecodeError, IndexError):
        raise UsageError(f"{file} is no YAML") from None
    if not isinstance(found, dict) or not set(found) <= set(_FACTS):
        raise UsageError(f"{file} holds other facts than {', '.join(_FACTS)}; docs/catalog-packs.md has them")
    return found


def _there(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _name_in(manifest: bytes) -> str:
    try:
        name = read_documents(manifest.decode())[0]["metadata"]["name"]
    except (YamlProblem, UnicodeDecodeError, LookupError, TypeError):
        raise PoolsmithError(f"this is no pack: it has no {MANIFEST} with a name") from None
    return _sound_name(name)


def _sound_name(name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(DNS_LABEL, name):
        raise UsageError("the name of a pack is lower-case letters, digits and `-`, at most 63")
    return name


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise WriteError(f"{path} can't be written: {error.strerror or error}") from None
