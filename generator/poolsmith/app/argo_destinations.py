"""Which clusters of a fleet one Argo CD would deliver to one place: of a run over all of them, or over a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import Diagnostic, whole_file
from poolsmith.diagnostics.listing import counted
from poolsmith.diagnostics.outcome import Skipped
from poolsmith.profiles.load_cluster import cluster_alone
from poolsmith.profiles.shared_destinations import POINTER, ArgoCluster, argo_cluster, shared_destinations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.app.project import Project
    from poolsmith.app.run import Run, Totals
    from poolsmith.diagnostics import Location
    from poolsmith.profiles.fleet import ClusterFiles


def check_destinations(run: Run, totals: Totals) -> None:
    """Add what is wrong with them. Clusters that the run knows nothing of are asked by their own file alone."""
    selected = None if run.is_whole else {files.name for files in run.selected}
    if selected is not None and not totals.fleet and not totals.unplanned:
        return
    clusters = [entry.argo_cluster for entry in totals.fleet]
    unread = 0
    for files in run.project.fleet.clusters:
        if files.name not in totals.planned:
            found = cluster_alone(run.project.tree, files)
            unread += found is None and selected is not None and files.name not in selected
            told = argo_cluster(found) if found is not None else None
            clusters += [told] if told is not None else []
    if unread:
        what = f"destinations of {counted(unread, 'other cluster')}"
        totals.skipped.append(Skipped(what, "their cluster.yaml has errors, and may name the same cluster"))
    totals.diagnostics.extend(_findings(run.project, clusters, selected))


def _findings(project: Project, clusters: list[ArgoCluster], among: set[str] | None) -> Iterator[Diagnostic]:
    by_name: dict[str, ClusterFiles] = {files.name: files for files in project.fleet.clusters}

    def locate(name: str, note: str | None) -> Location:
        path = by_name[name].cluster or by_name[name].folder
        file = project.tree.read_profile(path)
        return whole_file(path, note) if isinstance(file, Diagnostic) else file.locate(POINTER, note)

    return shared_destinations(clusters, locate, among)
