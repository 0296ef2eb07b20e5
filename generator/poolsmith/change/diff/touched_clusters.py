"""Which clusters a change can do something to: those whose own files, bases, images or policies are not the same.

Nothing else of a cluster is looked at: it is generated from the same bytes, and judged by the same policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.profiles.fleet import BASES, CATALOG, DRIVER_IMAGES_FILE, PROFILES, RINGS_FILE
from poolsmith.guard.policies.files import ADMISSION, ENFORCEMENT, PRIVILEGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.fleet.profiles.bases import Bases
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.policies.base_revision import GitFile

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
