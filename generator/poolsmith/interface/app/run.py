"""One run over the clusters of a project, and what it collects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, sorted_unique
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.outcome import LEFT_OUT_FOR_ERRORS, Outcome, Skipped
from poolsmith.core.record import record
from poolsmith.guard.rules.prediction.driver_images import without_list
from poolsmith.interface.app.progress import Progress, silent
from poolsmith.project.output.batches import in_batches
from poolsmith.project.run.argo_destinations import judge_destinations
from poolsmith.project.run.project import Project, open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.core.sources.output_tree import Staged
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.fleet.profiles.shared_destinations import ArgoCluster
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.interface.app.cluster_result import ClusterResult
    from poolsmith.interface.app.folder import FolderFindings, FolderResult
    from poolsmith.interface.app.shard import Shard
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.output.fleet import FleetEntry

Work = Callable[[Project, "tuple[ClusterFiles, ...]"], "Iterator[ClusterResult]"]
"""One of the functions of `cluster_result`: what is made of each cluster."""
EMPTY: Mapping[str, ClusterResult] = MappingProxyType({})


@record(kw_only=False)
class Known:
    """What others have found out: results of clusters by name, and what a review says of the changes of some."""

    results: Mapping[str, ClusterResult] = field(default_factory=dict)
    reviews: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)


NOTHING_KNOWN = Known()


@record(frozen=False, kw_only=False)
class Totals:
    """What the clusters of a run came to, together."""

    clusters: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    staged: list[Staged] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    used_bases: set[str] = field(default_factory=set)
    pools: int = 0
    files: int = 0
    unlisted_drivers: int = 0
    unplanned: int = 0
    planned: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    findings: list[FolderFindings] = field(default_factory=list)
    fleet: list[FleetEntry] = field(default_factory=list)
    judgements: dict[str, Judgement] = field(default_factory=dict)
    fresh: list[ClusterResult] = field(default_factory=list)
    """Results of this run that an earlier one did not have."""

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)

    def add(self, result: ClusterResult) -> None:
        self.clusters += 1
        self.diagnostics.extend(result.diagnostics)
        self.used_bases |= result.used_bases
        self.pools += result.pools
        self.unlisted_drivers += result.unlisted_drivers
        if result.folder is None:
            self.unplanned += 1
        else:
            self.planned.add(result.name)
            self.add_folder(result.name, result.folder)
        if result.judgement is not None:
            self.judgements[result.name] = result.judgement
        if result.fleet_entry is not None:
            self.fleet.append(result.fleet_entry)

    def add_folder(self, name: str, folder: FolderResult) -> None:
        self.diagnostics.extend(folder.diagnostics)
        self.files += folder.files
        if folder.changed:
            self.changed.append(name)
        if folder.staged is not None:
            self.staged.append(folder.staged)
        if folder.findings is not None:
            self.findings.append(folder.findings)
            self.diagnostics.extend(folder.findings.diagnostics)

    def outcome(self, facts: tuple[str, ...] = ()) -> Outcome:
        """Of a run without judgements."""
        skipped = list(self.skipped)
        if self.unplanned:
            reason = f"profiles have errors, in {self.unplanned} of {self.clusters} clusters"
            skipped.append(Skipped(LEFT_OUT_FOR_ERRORS, reason))
        return Outcome(
            diagnostics=sorted_unique(self.diagnostics),
            checked={"clusters": self.clusters, "pools": self.pools, "generated files": self.files},
            skipped=tuple(skipped),
            facts=facts,
        )

    def without_list(self) -> tuple[Skipped, ...]:
        return (without_list(self.unlisted_drivers),) if self.unlisted_drivers else ()


@record
class Run:
    """A project, the clusters that are looked at, and how many processes, or whose, share the work.

    `is_whole`: all clusters are, so that something can be said of what spans them. `is_shard`: the others are looked at
    elsewhere. What clusters share is loaded once, by the project.
    """

    project: Project
    selected: tuple[ClusterFiles, ...]
    is_whole: bool
    is_shard: bool = False
    jobs: int | Workers = 1
    progress: Progress = silent

    def collect(self, work: Work, *, few: int, known: Mapping[str, ClusterResult] = EMPTY) -> Totals:
        """Each cluster worked on unless its result is known, and what is wrong with the files that they share.

        Other processes are started for more than `few` clusters only.
        """
        totals = Totals()
        for files in self.selected:
            if files.name in known:
                totals.add(known[files.name])
        todo = [files for files in self.selected if files.name not in known]
        self.progress(totals.clusters, len(self.selected))
        folders = self.project.folders
        for result in in_batches(partial(work, self.project), todo, self.jobs, few=few, folders=folders):
            totals.add(result)
            totals.fresh.append(result)
            self.progress(totals.clusters, len(self.selected))
        totals.diagnostics.extend(self._shared_problems(totals.used_bases))
        if not self.is_shard:  # the merge tells of all
            self._add_destinations(totals)
        return totals

    def _add_destinations(self, totals: Totals) -> None:
        """What spans clusters is told of a few of them as well, where it is about one of these."""
        told: dict[str, ArgoCluster | None] = dict.fromkeys(totals.planned)
        told |= {entry.cluster: entry.argo_cluster for entry in totals.fleet}
        selected = None if self.is_whole else [files.name for files in self.selected]
        found = judge_destinations(self.project, told, selected)
        totals.diagnostics.extend(found.diagnostics)
        totals.skipped.extend(found.skipped)

    def _shared_problems(self, used_bases: set[str]) -> Iterator[Diagnostic]:
        project = self.project
        yield from project.fleet.problems
        yield from project.bases.problems
        yield from project.driver_images[1]
        yield from project.rings.problems if project.rings is not None else ()
        yield from project.policies.problems
        if project.judged_by is not None:
            from poolsmith.guard.policies.revision import policy_changes  # on demand

            yield from policy_changes(project.policies, project.judging_policies)
        if not self.is_whole:
            return
        if project.rings is not None and project.rings.order is not None:
            from poolsmith.fleet.profiles.load_cluster import load_cluster  # on demand
            from poolsmith.fleet.profiles.ring_lead import ahead_of_rings  # on demand

            clusters = (load_cluster(project.tree, files, project.bases, project.rings) for files in self.selected)
            yield from ahead_of_rings(project.rings.order, clusters)
        used = used_bases | project.bases.used_by(project.bases.files.values())
        for name, file in project.bases.files.items():
            if name not in used:
                message = f"nothing extends the base `{name}`"
                yield diagnose(shape.UNUSED_BASE, message, file.locate("/metadata/name"))


def open_run(
    root: Path,
    clusters: Sequence[str] = (),
    *,
    jobs: int | Workers = 1,
    progress: Progress = silent,
    judged_by: Path | None = None,
    first_supply: bool = False,
    output_at: Path | None = None,
    shard: Shard | None = None,
) -> Run:
    """A run over the clusters named, or a shard of all, or all. Raises UsageError, NoInputError."""
    project = open_project(root, judged_by, first_supply=first_supply, output_at=output_at)
    selected = project.select(clusters)
    if shard is not None:
        selected = shard.part(selected)
    is_whole = not clusters and shard is None
    return Run(
        project=project,
        selected=selected,
        is_whole=is_whole,
        is_shard=shard is not None,
        jobs=jobs,
        progress=progress,
    )
