"""One generated folder against what is there: staged, or said how it differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.app.cluster_run import TOOL, compare, occupied, run_cluster
from poolsmith.app.output_rules import Judged, judge_output
from poolsmith.app.project import CLUSTERS, FLEET
from poolsmith.diagnostics import Diagnostic, Severity
from poolsmith.output.collector import rarely_collecting
from poolsmith.output.comparison import drift_diagnostics, foreign_diagnostics, hand_edit
from poolsmith.output.fleet import FleetEntry, fleet_entry, render_fleet
from poolsmith.output.lock_file import LOCK, write_lock
from poolsmith.output.tree import file_bytes
from poolsmith.rules.prediction.driver_images import driver_pools
from poolsmith.rules.schema.object_schemas import Against, against_cluster
from poolsmith.sources.output_tree import Staged, stage

if TYPE_CHECKING:
    from poolsmith.app.cluster_judgement import Judgement
    from poolsmith.app.project import Project
    from poolsmith.operands.manifest import ManifestTree
    from poolsmith.profiles.fleet import ClusterFiles


FLEET_NAME = "output/fleet"
"""How results name the fleet's folder; no cluster can have that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterResult:
    """What one cluster of a batch came to. `planned` is False when its profiles have errors.

    `judgement` is what was found in what the profiles come to, where that was judged.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...]
    pools: int
    files: int
    changed: bool
    planned: bool = True
    staged: Staged | None = None
    judged: Judged | None = None
    used_bases: frozenset[str] = frozenset()
    fleet_entry: FleetEntry | None = None
    judgement: Judgement | None = None
    unlisted_drivers: int = 0
    """Pools that pull a driver image, where no list of known images can say anything about it."""


class Mode(StrEnum):
    """What to do with the difference between profiles and output."""

    WRITE = "write"
    COMPARE = "compare"
    JUDGE = "judge"


def run_batch(project: Project, mode: Mode, batch: tuple[ClusterFiles, ...]) -> list[ClusterResult]:
    """Several clusters, one after another."""
    with rarely_collecting():
        return [_one_cluster(project, files, mode) for files in batch]


def _one_cluster(project: Project, files: ClusterFiles, mode: Mode) -> ClusterResult:
    run = run_cluster(project, files)
    name = run.loaded.name
    diagnostics = list(run.diagnostics)
    pools = len(run.loaded.pools)
    if run.files is None or run.tree is None:
        return ClusterResult(
            name=name,
            diagnostics=tuple(diagnostics),
            pools=pools,
            files=0,
            changed=False,
            planned=False,
            used_bases=run.loaded.used_bases,
        )
    against = Against()
    judgement = None
    if mode is Mode.JUDGE and run.loaded.cluster is not None:
        from poolsmith.app.cluster_judgement import judge_cluster

        against = against_cluster(run.loaded.cluster, project.catalog)
        judgement = judge_cluster(project, run)
        diagnostics.extend(judgement.diagnostics)
    result = settle(project, f"{CLUSTERS}/{name}", name, run.files, run.tree, mode, against)
    return replace(
        result,
        diagnostics=(*diagnostics, *result.diagnostics),
        pools=pools,
        used_bases=run.loaded.used_bases,
        fleet_entry=fleet_entry(run.plan, run.admission) if run.plan is not None else None,
        judgement=judgement,
        unlisted_drivers=driver_pools(run.plan) if run.plan is not None and project.fleet.driver_images is None else 0,
    )


def settle(
    project: Project,
    folder: str,
    name: str,
    files: dict[str, bytes],
    tree: ManifestTree,
    mode: Mode,
    against: Against,
) -> ClusterResult:
    """Compare a generated folder with what is there; stage it, or say how they differ."""
    comparison = compare(project, folder, files, name)
    if isinstance(comparison, Diagnostic):
        return ClusterResult(name=name, diagnostics=(comparison,), pools=0, files=len(files), changed=False)
    diagnostics: list[Diagnostic] = []
    staged = judged = None
    changed = not comparison.is_current
    if not changed:
        diagnostics.extend(foreign_diagnostics(comparison, name))
    else:
        in_the_way = occupied(comparison, name)
        diagnostics.extend(in_the_way)
        if mode is not Mode.WRITE:
            diagnostics.extend(drift_diagnostics(comparison, name))
        else:
            edits = comparison.hand_edited()
            diagnostics.extend(hand_edit(comparison, path, name, Severity.WARNING) for path in edits)
            diagnostics.extend(foreign_diagnostics(comparison, name))
            if not in_the_way:
                staged = stage(project.root / folder, files, comparison.owned)
    if mode is Mode.JUDGE:
        judged = judge_output(comparison, tree, against)
    return ClusterResult(
        name=name,
        diagnostics=tuple(diagnostics),
        pools=0,
        files=len(files),
        changed=changed,
        staged=staged,
        judged=judged,
    )


def run_fleet(project: Project, entries: list[FleetEntry], mode: Mode) -> ClusterResult:
    """output/fleet/ against what is there; a folder like a cluster's, with a lock of its own."""
    tree = render_fleet(entries)
    files = file_bytes(tree)
    if files:
        inputs = {f"profiles/{entry.cluster}/cluster.yaml#/spec/delivery": entry.digest for entry in entries}
        files[LOCK] = write_lock(tool=TOOL, catalog=project.catalog.digest, inputs=inputs, files=files)
    return settle(project, FLEET, FLEET_NAME, files, tree, mode, Against())
