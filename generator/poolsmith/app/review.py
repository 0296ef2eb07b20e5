"""Use case: what a change adds, held against the base that it is to be merged into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.app.cluster_run import plan_cluster
from poolsmith.app.project import Project, open_project
from poolsmith.diagnostics import NoInputError
from poolsmith.profiles.load_cluster import load_cluster
from poolsmith.review.change import ClusterChange, SeenCluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.app.run import Run
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.policies.apply import JudgingOptions
    from poolsmith.policies.base_revision import BaseRevision
    from poolsmith.profiles.fleet import ClusterFiles


def review(run: Run, judging: JudgingOptions, base: BaseRevision) -> Iterator[Diagnostic]:  # noqa: ARG001 - to come
    """All that the change would gain, and what nobody has accepted of it."""
    list(cluster_changes(run, base))
    yield from ()


def cluster_changes(run: Run, base: BaseRevision) -> Iterator[ClusterChange]:
    """Of the clusters of a run, and of those that are gone; what is the same in all its files is no change."""
    before = _base_project(base)
    then = {files.name: files for files in before.fleet.clusters} if before is not None else {}
    now = {files.name: files for files in run.selected}
    gone = then.keys() - {files.name for files in run.project.fleet.clusters} if run.is_whole else set()
    for name in sorted(now.keys() | gone):
        older = (before, then[name]) if before is not None and name in then else None
        newer = (run.project, now[name]) if name in now else None
        if older is None or newer is None or _inputs(*older) != _inputs(*newer):
            yield ClusterChange(name, older and _seen(*older), newer and _seen(*newer))


def _base_project(base: BaseRevision) -> Project | None:
    """None where the base has no profiles."""
    try:
        return open_project(base.folder)
    except NoInputError:
        return None


def _inputs(project: Project, files: ClusterFiles) -> dict[str, str]:
    return load_cluster(project.tree, files, project.bases).inputs


def _seen(project: Project, files: ClusterFiles) -> SeenCluster | None:
    planned = plan_cluster(project, files)
    if planned.plan is None or planned.prediction is None:
        return None
    return SeenCluster(loaded=planned.loaded, plan=planned.plan, prediction=planned.prediction)
