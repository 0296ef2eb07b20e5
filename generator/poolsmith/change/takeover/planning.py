"""Profiles that stand nowhere yet, planned and generated as if they stood in the project."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.change.takeover.draft import DraftTree
from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.bases import Bases
from poolsmith.fleet.profiles.fleet import PROFILES, ClusterFiles
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.project.run.project import Project

if TYPE_CHECKING:
    from pathlib import Path as Folder

    from poolsmith.change.takeover.draft import ClusterDraft
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.project.run.cluster_run import ClusterRun


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
