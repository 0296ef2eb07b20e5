"""Draft profiles of a takeover: their fields, where each comes from, their text, and plans made from them in memory."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import InputTree, Listing
from poolsmith.core.sources.pointer import copied, join, tree_of
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.assumed import ASSUMED
from poolsmith.fleet.profiles.bases import Bases
from poolsmith.fleet.profiles.fleet import PROFILES, ClusterFiles
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.project.run.project import Project

if TYPE_CHECKING:
    from pathlib import Path as Folder

    from poolsmith.change.takeover.effective import Path
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.project.run.cluster_run import ClusterRun


_CLUSTER_SCHEMA = "yaml-language-server: $schema=../_schemas/cluster.schema.json"
_POOL_SCHEMA = "yaml-language-server: $schema=../_schemas/node-pool.schema.json"

_CLUSTER_ORDER = ("kubernetes", "stack", "poolLabel", "nfd", "delivery", "registry")
_POOL_ORDER = ("nodes", "os", "kernel", "runtime", "gpu", "driver", "toolkit")


@record(frozen=False, kw_only=False)
class ProfileDraft:
    """One file. `fields` are values by their paths below `spec`; `assumed` are those that were guessed. What stands
    below `fixed` is known, and nothing is proposed in its place."""

    name: str
    fields: dict[Path, Any] = field(default_factory=dict)
    assumed: set[Path] = field(default_factory=set)
    fixed: set[Path] = field(default_factory=set)

    def is_fixed(self, path: Path) -> bool:
        return any(path[: len(known)] == known for known in self.fixed)

    def copied(self) -> ProfileDraft:
        """To be tried out."""
        return ProfileDraft(self.name, dict(self.fields), set(self.assumed), set(self.fixed))

    def text(self, kind: str, schema: str, order: tuple[str, ...]) -> str:
        spec = tree_of((path, copied(value)) for path, value in self.fields.items())
        known = [key for key in order if key in spec]
        body = {
            "apiVersion": "poolsmith/v1",
            "kind": kind,
            "metadata": {"name": self.name},
            "spec": {key: spec[key] for key in (*known, *(key for key in spec if key not in known))},
        }
        comments = {join("", "spec", *path): (ASSUMED,) for path in sorted(self.assumed) if path in self.fields}
        return emit(body, header=(schema,), comments=comments)


@record(frozen=False, kw_only=False)
class ClusterDraft:
    """The profiles of one cluster."""

    cluster: ProfileDraft
    pools: list[ProfileDraft]

    @property
    def name(self) -> str:
        return self.cluster.name

    def copied(self) -> ClusterDraft:
        return ClusterDraft(self.cluster.copied(), [pool.copied() for pool in self.pools])

    def texts(self) -> dict[str, str]:
        """By their paths in the project."""
        folder = f"{PROFILES}/{self.name}"
        texts = {f"{folder}/cluster.yaml": self.cluster.text("Cluster", _CLUSTER_SCHEMA, _CLUSTER_ORDER)}
        for pool in self.pools:
            texts[f"{folder}/{pool.name}.yaml"] = pool.text("NodePool", _POOL_SCHEMA, _POOL_ORDER)
        return texts


class DraftTree(InputTree):
    """Files that are not on disk, as a project's input."""

    def __init__(self, root: Folder, texts: dict[str, str]) -> None:
        super().__init__(root)
        self._texts = texts

    def listing(self, folder: str) -> Listing:
        prefix = f"{folder}/" if folder else ""
        below = [path[len(prefix) :] for path in self._texts if path.startswith(prefix)]
        files = sorted(name for name in below if "/" not in name)
        folders = sorted({name.partition("/")[0] for name in below if "/" in name})
        return Listing(files=tuple(files), folders=tuple(folders))

    def read_text(self, path: str, *, limit: int = 0) -> str | Diagnostic:
        return self._texts[path] if path in self._texts else super().read_text(path, limit=limit or 1 << 20)

    def size(self, path: str) -> int:
        return len(self._texts.get(path, "").encode())


@record(kw_only=False, slots=False)
class DraftProject(Project):
    """A project whose profiles are texts by their paths."""

    texts_of_profiles: dict[str, str] = field(default_factory=dict)

    @cached_property
    def tree(self) -> InputTree:
        return DraftTree(self.root, self.texts_of_profiles)


@record
class Planned:
    """`errors` say why there is no plan."""

    plan: ClusterPlan | None
    errors: tuple[Diagnostic, ...]


class Planner:
    """Plans drafts of one project; the catalog is read once."""

    def __init__(self, root: Folder, catalog: Catalog) -> None:
        self.root = root
        self._catalog = catalog

    def plan(self, draft: ClusterDraft) -> Planned:
        """What follows from the profiles, without a prediction of what runs."""
        tree = DraftTree(self.root, draft.texts())
        loaded = load_cluster(tree, files_of(draft), Bases())
        errors = _errors(loaded.problems)
        if errors:
            return Planned(plan=None, errors=errors)
        resolved = resolve_cluster(loaded, self._catalog)
        return Planned(plan=resolved.plan, errors=_errors(resolved.diagnostics))

    def generate(self, draft: ClusterDraft) -> ClusterRun:
        """All files of the cluster's output."""
        from poolsmith.project.run.cluster_run import run_cluster  # on demand

        project = DraftProject(root=self.root, texts_of_profiles=draft.texts())
        return run_cluster(project, files_of(draft))


def files_of(draft: ClusterDraft) -> ClusterFiles:
    """Where the profiles of a draft stand."""
    folder = f"{PROFILES}/{draft.name}"
    pools = tuple(f"{folder}/{pool.name}.yaml" for pool in draft.pools)
    return ClusterFiles(name=draft.name, cluster=f"{folder}/cluster.yaml", pools=pools)


def _errors(found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    return tuple(item for item in found if item.severity is Severity.ERROR)
