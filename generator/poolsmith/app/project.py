"""A project on disk: where profiles, policies and output are, and what is loaded once for all. Floor: app."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.app.prediction import Predictions
from poolsmith.catalog import Catalog
from poolsmith.diagnostics import NoInputError, UsageError
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.load.bases import Bases, load_bases
from poolsmith.load.fleet import PROFILES, ClusterFiles, FleetFiles, find_fleet
from poolsmith.sources.input_tree import InputTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OUTPUT = "output"
CLUSTERS = f"{OUTPUT}/clusters"
FLEET = f"{OUTPUT}/fleet"


@dataclass(frozen=True)
class Project:
    """A root folder that has `profiles/`."""

    root: Path

    def __reduce__(self) -> tuple[type[Project], tuple[Path]]:
        """Another process gets the root, and reads on demand what it needs."""
        return Project, (self.root,)

    @cached_property
    def tree(self) -> InputTree:
        return InputTree(self.root)

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog()

    @cached_property
    def fleet(self) -> FleetFiles:
        return find_fleet(self.tree)

    @cached_property
    def bases(self) -> Bases:
        return load_bases(self.tree, self.fleet.bases)

    @cached_property
    def unsound_bases(self) -> frozenset[str]:
        """Names of bases whose own files have mistakes; what extends them can't be judged."""
        paths = {problem.primary.span.path for problem in self.bases.problems}
        return frozenset(name for name, file in self.bases.files.items() if file.path in paths)

    @cached_property
    def predictions(self) -> Predictions:
        return Predictions(self.catalog)

    @property
    def clusters_folder(self) -> Path:
        return self.root / CLUSTERS

    def select(self, names: Sequence[str]) -> tuple[ClusterFiles, ...]:
        """The clusters to work on; all when none is named. Raises NoInputError, UsageError."""
        clusters = self.fleet.clusters
        if not clusters and not self.fleet.problems:
            raise NoInputError(
                f"there are no profiles below {self.root / PROFILES}; `poolsmith init` makes the first ones"
            )
        if not names:
            return clusters
        known = {cluster.name: cluster for cluster in clusters}
        for name in names:
            if name not in known:
                raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, known)}")
        return tuple(known[name] for name in dict.fromkeys(names))


def open_project(root: Path) -> Project:
    """Raises UsageError when `root` is no folder, NoInputError when it has no profiles."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    if not (root / PROFILES).is_dir():
        raise NoInputError(f"{root} has no folder `{PROFILES}`; name another root with --root, or run `poolsmith init`")
    return Project(root)
