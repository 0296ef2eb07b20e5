"""Which clusters of a fleet one Argo CD would deliver to one place: of a run over all of them, or over a few."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, whole_file
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.profiles.fleet import PROFILES, find_fleet
from poolsmith.fleet.profiles.load_cluster import cluster_alone
from poolsmith.fleet.profiles.shared_destinations import (
    NAME,
    POINTER,
    ArgoCluster,
    argo_cluster,
    shared_destinations,
    shared_names,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.kubernetes.repository.argo_destination import TargetBy
    from poolsmith.project.run.project import Project


_NAME_AND_SERVER = Skipped(
    "destinations by name beside those by server",
    "only Argo CD knows whether a name and a server are one cluster",
    by_design=True,
)


@record(kw_only=False)
class DestinationFindings:
    """`skipped` are clusters of which nobody can tell."""

    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def judge_destinations(
    project: Project, told: Mapping[str, ArgoCluster | None], selected: Collection[str] | None
) -> DestinationFindings:
    """`told` is what a run found out of clusters, None of one without Argo CD; the others are asked by their own file
    alone. `selected` are the clusters that it is about, where these are not all."""
    if selected is not None and all(name in told and told[name] is None for name in selected):
        return DestinationFindings()
    clusters = [item for item in told.values() if item is not None]
    unread = 0
    for files in project.fleet.clusters:
        if files.name not in told:
            found = cluster_alone(project.tree, files)
            item = argo_cluster(found) if found is not None else None
            clusters += [item] if item is not None else []
            unread += found is None and selected is not None and files.name not in selected
    skipped: tuple[Skipped, ...] = (_NAME_AND_SERVER,) if _are_mixed(clusters) else ()
    if unread:
        what = f"destinations of {counted(unread, 'other cluster')}"
        skipped += (Skipped(what, "their cluster.yaml has errors, and may name the same cluster"),)
    return DestinationFindings(tuple(_findings(project, clusters, selected)), skipped)


def _are_mixed(clusters: Iterable[ArgoCluster]) -> bool:
    """Whether one Argo CD has destinations by name, and others by the server of another cluster than its own."""
    by_instance: dict[str, set[TargetBy]] = {}
    for item in clusters:
        if not item.target.is_own_cluster:
            by_instance.setdefault(item.instance, set()).add(item.target.by)
    return any(len(ways) > 1 for ways in by_instance.values())


def argo_clusters_of(root: Path) -> tuple[ArgoCluster, ...]:
    """Those of the profiles that stand below a folder and whose own files can be read."""
    tree = InputTree(root)
    if not (root / PROFILES).is_dir():
        return ()
    found = (cluster_alone(tree, files) for files in find_fleet(tree).clusters)
    told = (argo_cluster(cluster) for cluster in found if cluster is not None)
    return tuple(item for item in told if item is not None)


def _findings(project: Project, clusters: list[ArgoCluster], among: Collection[str] | None) -> Iterator[Diagnostic]:
    by_name: dict[str, ClusterFiles] = {files.name: files for files in project.fleet.clusters}

    def locate(pointer: str, name: str, note: str | None) -> Location:
        path = by_name[name].cluster or by_name[name].folder
        file = project.tree.read_profile(path)
        return whole_file(path, note) if isinstance(file, Diagnostic) else file.locate(pointer, note)

    yield from shared_destinations(clusters, partial(locate, POINTER), among)
    yield from shared_names(clusters, partial(locate, NAME), among)
