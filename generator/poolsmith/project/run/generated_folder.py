"""One generated folder against what is there: staged, or compared."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, WriteError, diagnose, whole_file
from poolsmith.core.diagnostics.codes import hygiene as codes
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.record import record
from poolsmith.core.sources.output_tree import Staged, read_files, stage
from poolsmith.project.output.comparison import Comparison, drift_diagnostics, foreign_diagnostics, hand_edit
from poolsmith.project.output.lock_file import LOCK, BadLockError, Lock, read_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.guard.rules.schema.object_schemas import SchemaResult


_MOST_IN_THE_WAY = 20


@record(kw_only=False)
class FolderFindings:
    """What the manifest rules and schemas found in a folder, and how much they looked at."""

    diagnostics: tuple[Diagnostic, ...]
    files: int
    objects: int
    others: int
    schemas: SchemaResult


@record
class FolderResult:
    """`changed`: the folder is not what is generated. `staged` is its successor, `findings` what rules say of it."""

    diagnostics: tuple[Diagnostic, ...] = ()
    files: int = 0
    changed: bool = False
    staged: Staged | None = None
    findings: FolderFindings | None = None


@record
class GeneratedFolder:
    """What belongs into a folder: its path below the root, whom findings are about, its objects, and its files."""

    root: Path
    path: str
    subject: str
    tree: ManifestTree
    files: dict[str, bytes]


def write_folder(folder: GeneratedFolder) -> FolderResult:
    """Stage what differs; nothing is staged where something is in the way. Raises WriteError."""
    return write_compared(folder, against_disk(folder.root, folder.path, folder.files, folder.subject))


def write_compared(folder: GeneratedFolder, comparison: Comparison | Diagnostic) -> FolderResult:
    """The same of a folder that was compared already. Raises WriteError."""
    if isinstance(comparison, Diagnostic):
        return FolderResult(diagnostics=(comparison,), files=len(folder.files))
    diagnostics = foreign_diagnostics(comparison, folder.subject)
    staged = None
    if not comparison.is_current:
        edited = comparison.hand_edited()
        diagnostics += [hand_edit(comparison, path, folder.subject, Severity.WARNING) for path in edited]
        in_the_way = _occupied(comparison, folder.subject)
        diagnostics += in_the_way
        if not in_the_way:
            staged = stage(folder.root / folder.path, folder.files, comparison.owned, comparison.present)
    return FolderResult(
        diagnostics=tuple(diagnostics), files=len(folder.files), changed=not comparison.is_current, staged=staged
    )


def after_writing(comparison: Comparison | Diagnostic) -> Comparison | Diagnostic:
    """The folder as it is once what differs is in place: what is generated, and files that no lock owns."""
    if isinstance(comparison, Diagnostic) or comparison.occupied():
        return comparison
    foreign = {path: comparison.present[path] for path in comparison.foreign()}
    lock = read_lock(comparison.generated[LOCK])
    present: dict[str, bytes | None] = {**foreign, **comparison.generated}
    return Comparison(folder=comparison.folder, generated=comparison.generated, present=present, lock=lock)


def compare_folder(folder: GeneratedFolder) -> FolderResult:
    """How what is there differs from what is generated."""
    return result_of(folder, against_disk(folder.root, folder.path, folder.files, folder.subject))


def result_of(folder: GeneratedFolder, comparison: Comparison | Diagnostic, *, together: bool = False) -> FolderResult:
    """Of a run that writes nothing; `together`: one finding on all files that are merely out of date."""
    if isinstance(comparison, Diagnostic):
        return FolderResult(diagnostics=(comparison,), files=len(folder.files))
    if comparison.is_current:
        diagnostics = foreign_diagnostics(comparison, folder.subject)
    else:
        diagnostics = _occupied(comparison, folder.subject) + drift_diagnostics(
            comparison, folder.subject, together=together
        )
    return FolderResult(diagnostics=tuple(diagnostics), files=len(folder.files), changed=not comparison.is_current)


def against_disk(root: Path, folder: str, generated: dict[str, bytes], subject: str) -> Comparison | Diagnostic:
    """What `folder` holds against `generated`, or why that can't be said."""
    if (problem := link_in_the_way(root, folder)) is not None:
        return problem
    target = root / folder
    try:
        present = read_files(target, generated) if target.exists() else {}
    except OSError as error:
        message = f"can't be read: {error.strerror or error}"
        rule = reading.INPUT_LIMIT if error.errno in (errno.EFBIG, errno.ENAMETOOLONG) else reading.UNREADABLE_FILE
        place = f"{folder}/{error.filename}" if rule is reading.INPUT_LIMIT and error.filename else folder
        return diagnose(rule, message, whole_file(place), subject=subject)
    return compared(folder, generated, present, subject)


def compared(
    folder: str, generated: dict[str, bytes], present: Mapping[str, bytes | None], subject: str
) -> Comparison | Diagnostic:
    """What was read of a folder against what is generated; a lock that can't be used says nothing of either."""
    lock = Lock()
    if (text := present.get(LOCK)) is not None:
        try:
            lock = read_lock(text)
        except BadLockError as error:
            message = f"the lock can't be used: {error}"
            return diagnose(codes.BAD_LOCK, message, whole_file(f"{folder}/{LOCK}"), subject=subject)
    elif LOCK in present:
        message = "the lock is not a regular file"
        return diagnose(codes.BAD_LOCK, message, whole_file(f"{folder}/{LOCK}"), subject=subject)
    return Comparison(folder=folder, generated=generated, present=present, lock=lock)


def link_in_the_way(root: Path, folder: str) -> Diagnostic | None:
    """A generated folder must lie where it seems to lie: links would lead writes elsewhere."""
    path = root
    for part in folder.split("/"):
        path = path / part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            what = "a symbolic link" if path.is_symlink() else "not a folder"
            shown = path.relative_to(root).as_posix()
            return diagnose(
                codes.PATH_OCCUPIED, f"`{shown}` is {what}; nothing is written through it", whole_file(shown)
            )
    return None


def refuse_links(root: Path, folders: Iterable[str]) -> None:
    """Folders that links would lead elsewhere. Raises WriteError."""
    for folder in folders:
        if (problem := link_in_the_way(root, folder)) is not None:
            raise WriteError(problem.message)


def _occupied(comparison: Comparison, subject: str) -> list[Diagnostic]:
    """Files in the way that are not ours."""
    return [
        diagnose(
            codes.PATH_OCCUPIED,
            f"`{path}` is where a generated file must go, and no lock owns it",
            whole_file(f"{comparison.folder}/{path}"),
            subject=subject,
        )
        for path in comparison.occupied()[:_MOST_IN_THE_WAY]
    ]
