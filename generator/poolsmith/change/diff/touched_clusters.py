"""The clusters that a change can affect: those with other files, bases, driver images, rings, packs or policies.

Files are compared by git's ids of their contents; nothing is parsed. All other clusters are generated from the same
bytes and judged by the same policies, so they are not loaded.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.git import SHA1, blob_id
from poolsmith.fleet.profiles.fleet import BASES, CATALOG, DRIVER_IMAGES_FILE, PROFILES, RINGS_FILE
from poolsmith.guard.policies.policy_files import ADMISSION, ENFORCEMENT, PRIVILEGES
from poolsmith.guard.policies.revision import GitFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.core.sources.git import IndexEntry
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.fleet.profiles.bases import Bases
    from poolsmith.fleet.profiles.fleet import ClusterFiles


_BASES = f"{PROFILES}/{BASES}/"
_PACKS = f"{PROFILES}/{CATALOG}/"
_CLUSTERS = "output/clusters"
_SHIPPED = (f"{ADMISSION}/", f"{PRIVILEGES}/")


@record
class Touched:
    """Paths that differ, and why all clusters have to be looked at; empty where they have not."""

    paths: frozenset[str]
    why_all: str = ""

    @property
    def by_folder(self) -> frozenset[str]:
        """Names of clusters with a file of their own that differs: a profile, or something in the output."""
        return frozenset(
            path.split("/", 3)[depth]
            for path in self.paths
            for folder, depth in ((PROFILES, 1), (_CLUSTERS, 2))
            if path.startswith(f"{folder}/") and path.count("/") > depth
        )

    @property
    def bases(self) -> frozenset[str]:
        return frozenset(path for path in self.paths if path.startswith(_BASES))


def touched(before: Mapping[str, GitFile], after: Mapping[str, GitFile]) -> Touched:
    """By the ids of both sides; an executable bit of a profile means nothing."""
    paths = frozenset(path for path in before.keys() | after.keys() if _id(before.get(path)) != _id(after.get(path)))
    why = ""
    if any(path.startswith(_SHIPPED) or path == ENFORCEMENT for path in paths):
        why = "policies that are shipped to every cluster differ"
    elif DRIVER_IMAGES_FILE in paths:
        why = f"{DRIVER_IMAGES_FILE} differs"
    elif RINGS_FILE in paths:
        why = f"{RINGS_FILE} differs"
    elif any(path.startswith(_PACKS) for path in paths):
        why = "packs of facts differ"
    return Touched(paths=paths, why_all=why)


def of_clusters(path: str) -> str:
    """The name of the cluster whose profile it is; empty for what clusters share."""
    folder, _, below = path.partition("/")
    name, is_within, _ = below.partition("/")
    return name if folder == PROFILES and is_within and not name.startswith(("_", ".")) else ""


def cluster_names(files: Iterable[str]) -> set[str]:
    """Of the clusters that have a profile among some paths."""
    return {name for name in map(of_clusters, files) if name}


def _id(file: GitFile | None) -> str | None:
    """Of a regular file; links and submodules are like none."""
    return None if file is None else f"{file.mode[:3]} {file.blob}"


def touched_bases(found: Touched, sides: Iterable[Bases]) -> frozenset[str]:
    """Names of bases that differ, or stand on one that does."""
    return frozenset(
        name
        for bases in sides
        for name, file in bases.files.items()
        if not found.bases.isdisjoint((file.path, *(layer.path for layer in bases.stack(file)[0])))
    )


def may_extend(tree: InputTree, files: ClusterFiles, names: frozenset[str]) -> bool:
    """Whether a pool may stand on one of some bases: a name that isn't in a text, and can't be hidden by an escape,
    stands in no field of it. What can't be read counts."""
    for path in files.pools:
        text = tree.read_text(path)
        if not isinstance(text, str) or "\\" in text or any(name in text for name in names):
            return True
    return False


_REGULAR, _EXECUTABLE, _OTHER = "100644", "100755", "000000"
_UNLIKE_ANY = GitFile(_OTHER, "")
_MOST_BYTES = 32 << 20
_DEEPEST = 32


def on_disk(
    root: Path, folders: Iterable[str], known: Mapping[str, GitFile], settled: Mapping[str, IndexEntry]
) -> dict[str, GitFile]:
    """Of what is checked out: the files of some folders of the project, by path from its root. `known` are those of a
    revision: they tell what sort of ids there are. What is as `settled` entries of the index say is not read.

    A link, a special file or one too large to be ours is like nothing that a revision has. Raises OSError where a
    folder can't be listed.
    """
    length = max((len(file.blob) for file in known.values()), default=SHA1)
    found: dict[str, GitFile] = {}
    pending = [folder for folder in folders if _is_folder(f"{root}/{folder}")]
    while pending:
        folder = pending.pop()
        with os.scandir(f"{root}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False) and path.count("/") < _DEEPEST:
                    pending.append(path)
                    continue
                entry_of = settled.get(path)
                if entry_of is not None and entry_of.is_as(entry.stat(follow_symlinks=False)):
                    found[path] = GitFile(entry_of.mode, entry_of.blob)
                else:
                    found[path] = _file(entry.path, length)
    return found


def _is_folder(path: str) -> bool:
    """A link is none: what it leads to is not the project's."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _file(path: str, length: int) -> GitFile:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return _UNLIKE_ANY
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
            return _UNLIKE_ANY
        with open(descriptor, "rb", closefd=False) as stream:
            content = stream.read()
    except OSError:
        return _UNLIKE_ANY
    finally:
        os.close(descriptor)
    return GitFile(_EXECUTABLE if state.st_mode & stat.S_IXUSR else _REGULAR, blob_id(content, length))
