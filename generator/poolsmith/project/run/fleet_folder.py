"""output/fleet/ and output/clusters/ as a whole: what spans clusters, and what belongs to no cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes import hygiene
from poolsmith.core.diagnostics.message_text import counted, printable
from poolsmith.core.sources.output_tree import JOURNAL, OLD, STAGE, files_below, stage
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.project.output.argocd_fleet import FleetEntry, render_fleet
from poolsmith.project.output.comparison import MAX_REPORTED, foreign_diagnostics, hand_edit
from poolsmith.project.output.lock_file import LOCK, write_lock
from poolsmith.project.output.tree import file_bytes
from poolsmith.project.run.generated_folder import FolderResult, GeneratedFolder, against_disk
from poolsmith.project.run.project import CLUSTERS, FLEET, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.project.run.project import Project


_GENERATED = ("clusters", "fleet")


def fleet_folder(project: Project, entries: list[FleetEntry]) -> GeneratedFolder:
    """output/fleet/: a folder like a cluster's, with a lock of its own."""
    tree = render_fleet(entries)
    files = file_bytes(tree)
    if files:
        inputs = {f"profiles/{entry.cluster}/cluster.yaml#/spec/delivery": entry.digest for entry in entries}
        files[LOCK] = write_lock(catalog=project.catalog.digest, inputs=inputs, files=files)
    return GeneratedFolder(root=project.output_root, path=FLEET, subject=FLEET, tree=tree, files=files)


def orphan_finding(name: str) -> Diagnostic:
    """A folder of the output that was generated for a cluster without profiles."""
    message = f"`{CLUSTERS}/{name}` was generated, and no profile describes the cluster"
    return diagnose(hygiene.ORPHANED_OUTPUT, message, whole_file(f"{CLUSTERS}/{name}"))


def stray_findings(paths: list[str]) -> Iterator[Diagnostic]:
    """Of files that are in no folder that is generated."""
    for path in paths[:MAX_REPORTED]:
        shown = printable(path)
        message = f"`{shown}` is in the output and in no generated folder, and no lock owns it"
        yield diagnose(hygiene.FOREIGN_FILE, message, whole_file(shown))
    if (rest := len(paths) - MAX_REPORTED) > 0:
        message = f"{counted(rest, 'more file')} of the output are in no generated folder"
        yield diagnose(hygiene.FOREIGN_FILE, message, whole_file(OUTPUT))


def orphans(project: Project) -> list[str]:
    """Folders of the output that have a lock and no profile. Where profiles could not be read, nobody knows."""
    folder = project.clusters_folder
    return [name for name in _undescribed(project) if not name.startswith(".") and (folder / name / LOCK).is_file()]


def strays(project: Project) -> list[str]:
    """Files of the output in no folder that is generated, and links: no lock can own them. What a killed run left is
    told elsewhere."""
    owned = {*orphans(project)}
    places = [f"{OUTPUT}/{name}" for name in _names(project.output_root / OUTPUT) if name not in _GENERATED]
    places += [f"{CLUSTERS}/{name}" for name in _undescribed(project) if name not in owned]
    return sorted({path for place in places for path in _files_at(project, place)})


def _undescribed(project: Project) -> list[str]:
    unread = {problem.primary.span.path for problem in project.fleet.problems}
    if PROFILES in unread:
        return []
    described = {files.name for files in project.fleet.clusters}
    described |= {path.removeprefix(f"{PROFILES}/") for path in unread}
    return [name for name in _names(project.clusters_folder) if name not in described]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith((STAGE, OLD, JOURNAL)))  # noqa: PTH208
    except OSError:
        return []


def _is_no_folder(path: Path) -> bool:
    return path.is_symlink() or not path.is_dir()


def _files_at(project: Project, place: str) -> list[str]:
    if _is_no_folder(project.output_root / place):
        return [place]
    try:
        return [f"{place}/{path}" for path in files_below(project.output_root / place)]
    except OSError:
        return [place]


def removal(project: Project, name: str) -> FolderResult:
    """An orphan's folder without what is ours. Raises WriteError."""
    comparison = against_disk(project.output_root, f"{CLUSTERS}/{name}", {}, name)
    if isinstance(comparison, Diagnostic):
        return FolderResult(diagnostics=(comparison,))
    edits = [hand_edit(comparison, path, name, Severity.WARNING) for path in comparison.hand_edited()]
    return FolderResult(
        diagnostics=(*edits, *foreign_diagnostics(comparison, name)),
        staged=stage(project.clusters_folder / name, {}, comparison.owned),
    )
