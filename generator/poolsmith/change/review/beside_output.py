"""Nothing beside the output: what a change brings into delivered folders, and poolsmith did not generate."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.change.review.beside_kinds import what_it_does
from poolsmith.change.review.head_tree import alike
from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes.change import BESIDE_OUTPUT
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.diagnostics.printable import cut, printable
from poolsmith.core.record import record
from poolsmith.guard.policies.base_revision import LINK, SUBMODULE
from poolsmith.project.output.lock_file import LOCK, BadLockError, read_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.change.review.head_tree import HeadTree
    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.guard.policies.base_revision import BaseRevision

OUTPUT = "output"
_OWN = (OUTPUT, "profiles", "policies")
_CLUSTERS = f"{OUTPUT}/clusters"
_FLEET = f"{OUTPUT}/fleet"
_EXECUTABLE = "100755"
_MOST_TOLD = 40
_MOST_OF_LOCK = 8 << 20
_LONGEST = 200
_ODD = "has a name that not every file system can keep: letters that aren't seen, or a dot or a blank at an end"
_NEVER_DELIVERED = frozenset((".ds_store", "thumbs.db", "desktop.ini", ".directory"))
_OF_EDITORS = (".swp", ".swo", "~", ".orig", ".rej")


@record(kw_only=False)
class DeliveredPath:
    """Where the delivery of a cluster says that the output is, and in which file it does."""

    cluster: str
    path: str
    said_in: str


@record
class Delivered:
    """What is delivered from the repository. `clusters` are those with profiles, `paths` where each is delivered from,
    `known_paths` the values of `delivery.path` that the base has."""

    root: Path
    clusters: frozenset[str]
    known_clusters: frozenset[str]
    paths: tuple[DeliveredPath, ...] = ()
    known_paths: frozenset[str] = frozenset()


def delivered_path(cluster: Cluster) -> DeliveredPath:
    """What its profile says."""
    return DeliveredPath(cluster.metadata.name, posixpath.normpath(cluster.spec.delivery.path), cluster.path)


def beside_output(head: HeadTree, base: BaseRevision, delivered: Delivered) -> Iterator[Diagnostic]:
    """All of it, file by file. What stands there in the base as well is no news, and left to a warning."""
    owned = _owned(delivered, base.prefix)
    yield from _wrong_paths(base, delivered)
    found: dict[str, str] = {}
    for path, problem in _problems(head, base, delivered, owned):
        if problem:
            found.setdefault(path, problem)
    for number, (path, problem) in enumerate(sorted(found.items())):
        if number == _MOST_TOLD:
            message = f"{counted(len(found) - number, 'more file')} like these stand beside what is generated"
            yield diagnose(BESIDE_OUTPUT, message, whole_file(OUTPUT))
            return
        where = printable(path.removeprefix(base.prefix))
        yield diagnose(BESIDE_OUTPUT, f"`{_shown(where)}` {problem}", whole_file(where), subject=where)


def _problems(
    head: HeadTree, base: BaseRevision, delivered: Delivered, owned: frozenset[str]
) -> Iterator[tuple[str, str]]:
    others = _elsewhere(base, delivered)
    own = tuple(f"{base.prefix}{name}" for name in _OWN)
    own_alike = tuple(map(alike, own))
    for path in sorted((*head.added(base), *_late(head, base, delivered))):
        mode = head.files[path].mode
        before = base.files.get(path)
        if _is_in(path, own):
            if path.startswith(f"{own[0]}/") or path == own[0]:
                yield path, _in_output(path, mode, owned, was=before.mode if before is not None else "")
        elif _is_in(alike(path), own_alike):
            yield path, "has a name that some file systems take for one of this project's own folders"
        elif _is_in(path, others):
            yield path, f"lies where clusters are delivered from, and poolsmith writes nothing; it {what_it_does(path)}"
    for path in head.untracked:
        if _is_in(path, (own[0],)) and path not in owned and not _is_junk(path):
            yield path, f"is not tracked yet, and no lock owns it; it {what_it_does(path)}"
    yield from _collisions(head, base, own[0])


def _late(head: HeadTree, base: BaseRevision, delivered: Delivered) -> Iterator[str]:
    """Files that the base has already, in the folder of a cluster that only this change delivers."""
    for name in delivered.clusters - delivered.known_clusters:
        folder = f"{base.prefix}{_CLUSTERS}/{name}/"
        there = (path for path in head.files if path.startswith(folder))
        yield from (path for path in there if base.files.get(path) == head.files[path])


def _in_output(path: str, mode: str, owned: frozenset[str], *, was: str) -> str:
    if mode == LINK:
        return "is a symbolic link: what it leads to would be delivered, and no lock can say what that is"
    if mode == SUBMODULE:
        return "is a submodule: another repository decides what would be delivered from there"
    if path not in owned:
        return f"is in a delivered folder, and no lock owns it; it {what_it_does(path)}"
    if mode == _EXECUTABLE and was != mode:
        return "is executable; generated files are data"
    return ""


def _collisions(head: HeadTree, base: BaseRevision, folder: str) -> Iterator[tuple[str, str]]:
    """New names in the output that some file systems take for another one there."""
    first: dict[str, str] = {}
    for path in sorted(head.files):
        if not _is_in(path, (folder,)):
            continue
        other = first.setdefault(alike(path), path)
        if other != path and not (path in base.files and other in base.files):
            new, old = (other, path) if path in base.files else (path, other)
            yield new, f"is one file with `{_shown(old)}` on file systems that don't tell such names apart"
        elif path not in base.files and _is_odd(path):
            yield path, _ODD


def _wrong_paths(base: BaseRevision, delivered: Delivered) -> Iterator[Diagnostic]:
    right = f"{base.prefix}{OUTPUT}"
    for item in delivered.paths:
        if item.path != right and item.path not in delivered.known_paths:
            there = f"`{_shown(item.path)}`, where poolsmith writes nothing"
            message = f"cluster `{item.cluster}` would be delivered from {there}; what it generates is in `{right}`"
            yield diagnose(
                BESIDE_OUTPUT, message, whole_file(item.said_in), help=f"write `path: {right}`", subject=item.cluster
            )


def _elsewhere(base: BaseRevision, delivered: Delivered) -> tuple[str, ...]:
    """Folders that clusters are delivered from, beside the output."""
    right = f"{base.prefix}{OUTPUT}"
    return tuple(sorted({item.path for item in delivered.paths} - {right}))


def _owned(delivered: Delivered, prefix: str) -> frozenset[str]:
    """All files of the locks, and these; whether each is generated is judged folder by folder."""
    folders = [_FLEET, *(f"{_CLUSTERS}/{name}" for name in delivered.clusters)]
    return frozenset(f"{prefix}{path}" for folder in folders for path in _of_lock(delivered.root, folder))


def _of_lock(root: Path, folder: str) -> Iterable[str]:
    path = root / folder / LOCK
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_OF_LOCK:
            return ()
        files: Mapping[str, str] = read_lock(path.read_bytes()).files
    except (OSError, BadLockError):
        return ()
    return (f"{folder}/{name}" for name in (*files, LOCK))


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _is_junk(path: str) -> bool:
    """What systems and editors leave behind; a commit of it is no junk any more."""
    name = path.rpartition("/")[2].casefold()
    return name in _NEVER_DELIVERED or name.startswith("._") or name.endswith(_OF_EDITORS)


def _is_odd(path: str) -> bool:
    return not path.isprintable() or any(part != part.strip(" ").rstrip(".") for part in path.split("/"))


def _shown(path: str) -> str:
    return cut(printable(path), _LONGEST)
