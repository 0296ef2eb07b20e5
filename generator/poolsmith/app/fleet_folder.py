"""output/fleet/ and output/clusters/ as a whole: what spans clusters, and what belongs to no cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.app.cluster_run import TOOL
from poolsmith.app.folder import FolderResult, GeneratedFolder, against_disk
from poolsmith.app.project import CLUSTERS, FLEET
from poolsmith.diagnostics import Diagnostic, Severity
from poolsmith.output.comparison import foreign_diagnostics, hand_edit
from poolsmith.output.fleet import FleetEntry, render_fleet
from poolsmith.output.lock_file import LOCK, write_lock
from poolsmith.output.tree import file_bytes
from poolsmith.profiles.fleet import PROFILES
from poolsmith.sources.output_tree import stage

if TYPE_CHECKING:
    from poolsmith.app.project import Project


def fleet_folder(project: Project, entries: list[FleetEntry]) -> GeneratedFolder:
    """output/fleet/: a folder like a cluster's, with a lock of its own."""
    tree = render_fleet(entries)
    files = file_bytes(tree)
    if files:
        inputs = {f"profiles/{entry.cluster}/cluster.yaml#/spec/delivery": entry.digest for entry in entries}
        files[LOCK] = write_lock(tool=TOOL, catalog=project.catalog.digest, inputs=inputs, files=files)
    return GeneratedFolder(root=project.root, path=FLEET, subject=FLEET, tree=tree, files=files)


def orphans(project: Project) -> list[str]:
    """Folders of the output that have a lock and no profile. Where profiles could not be read, nobody knows."""
    unread = {problem.primary.span.path for problem in project.fleet.problems}
    if PROFILES in unread:
        return []
    described = {files.name for files in project.fleet.clusters}
    described |= {path.removeprefix(f"{PROFILES}/") for path in unread}
    folder = project.clusters_folder
    try:
        entries = sorted(os.listdir(folder))  # noqa: PTH208 - names only
    except OSError:
        return []
    return [
        name
        for name in entries
        if name not in described and not name.startswith(".") and (folder / name / LOCK).is_file()
    ]


def removal(project: Project, name: str) -> FolderResult:
    """An orphan's folder without what is ours. Raises WriteError."""
    comparison = against_disk(project.root, f"{CLUSTERS}/{name}", {}, name)
    if isinstance(comparison, Diagnostic):
        return FolderResult(diagnostics=(comparison,))
    edits = [hand_edit(comparison, path, name, Severity.WARNING) for path in comparison.hand_edited()]
    return FolderResult(
        diagnostics=(*edits, *foreign_diagnostics(comparison, name)),
        staged=stage(project.clusters_folder / name, {}, comparison.owned),
    )
