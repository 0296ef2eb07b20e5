"""One run over the clusters of a project: each is written, compared or judged, and the results are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, sorted_unique
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.outcome import LEFT_OUT_FOR_ERRORS, Outcome, Skipped
from poolsmith.core.record import record
from poolsmith.guard.rules.prediction.driver_images import driver_pools, without_list
from poolsmith.project.output.argocd_fleet import FleetEntry, fleet_entry, namespaces_of
from poolsmith.project.output.batches import in_batches, rarely_collecting
from poolsmith.project.run.argo_destinations import judge_destinations
from poolsmith.project.run.cluster_run import ClusterRun, run_cluster
from poolsmith.project.run.generated_folder import (
    GeneratedFolder,
    after_writing,
    against_disk,
    compare_folder,
    write_compared,
    write_folder,
)
from poolsmith.project.run.project import CLUSTERS, Project, open_project
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from poolsmith.core.sources.output_tree import Staged
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.fleet.profiles.shared_destinations import ArgoCluster
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.project.output.comparison import Comparison
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.run.generated_folder import FolderFindings, FolderResult
    from poolsmith.project.run.run_options import Shard


Work = Callable[[Project, "tuple[ClusterFiles, ...]"], "Iterator[ClusterResult]"]
"""One of the functions of `cluster_result`: what is made of each cluster."""
EMPTY: Mapping[str, ClusterResult] = MappingProxyType({})


@record(kw_only=False)
class KnownResults:
    """What others have found out: results of clusters by name, and what a review says of the changes of some."""

    results: Mapping[str, ClusterResult] = field(default_factory=dict)
    reviews: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)


NOTHING_KNOWN = KnownResults()


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


_MAY_EXTEND = ("PSM0", "PSM101", "PSM102")
"""A profile with such a mistake may extend a base, once it is mended."""


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
        totals.diagnostics.extend(self._shared_problems(totals))
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

    def _shared_problems(self, totals: Totals) -> Iterator[Diagnostic]:
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
        if any(item.code.startswith(_MAY_EXTEND) for item in totals.diagnostics):
            return
        used = totals.used_bases | project.bases.used_by(project.bases.files.values())
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
    loaded: Project | None = None,
) -> Run:
    """A run over the clusters named, or a shard of all, or all. Raises UsageError, NoInputError.

    `loaded`: a project whose catalog and predictions this one goes on with.
    """
    project = open_project(root, judged_by, first_supply=first_supply, output_at=output_at)
    if loaded is not None:
        project.beside(loaded)
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


@record
class ClusterResult:
    """What became of one cluster. `folder` is None when its profiles have errors.

    `judgement` is what was found in what the profiles produce, where that was judged. `unlisted_drivers` counts pools
    that pull a driver image, where no list of known images can say anything about it. `admission` are namespaces of
    what the API server is to enforce, None where that is nothing. `fleet_entry` and `beside`, the paths of files that
    were judged beside the stack, follow from the profiles alone: whoever hears of a result looks there himself.
    `judged` is what a check says of the folder once it is written, where a run does both.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...] = ()
    pools: int = 0
    used_bases: frozenset[str] = frozenset()
    folder: FolderResult | None = None
    fleet_entry: FleetEntry | None = field(default=None, compare=False)
    judgement: Judgement | None = None
    unlisted_drivers: int = 0
    admission: tuple[str, ...] | None = None
    beside: tuple[str, ...] = field(default=(), compare=False)
    judged: ClusterResult | None = None

    def as_generated(self) -> ClusterResult:
        """Of a result that was judged: what `generate` would say of it."""
        if self.judgement is None:
            return self
        own = len(self.diagnostics) - len(self.judgement.diagnostics)
        folder = replace(self.folder, findings=None) if self.folder is not None else None
        return replace(self, diagnostics=self.diagnostics[:own], folder=folder, judgement=None)


def write_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster, staged where it changed. Raises WriteError."""
    return _each(project, batch, lambda run, folder: _result(project, run, write_folder(folder)))


def compare_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster, and how its folder differs from what is generated."""
    return _each(project, batch, lambda run, folder: _result(project, run, compare_folder(folder)))


def judge_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster compared, and all rules over what is generated, predicted and committed."""
    with _keeping_policies(project, batch):
        yield from _each(project, batch, lambda run, folder: _judged(project, run, folder, _compared(folder)))


def write_and_judge_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster, staged where it changed, with what a check says of it once it is in place. Raises WriteError."""

    def both(run: ClusterRun, folder: GeneratedFolder) -> ClusterResult:
        comparison = _compared(folder)
        written = _result(project, run, write_compared(folder, comparison))
        return replace(written, judged=_judged(project, run, folder, after_writing(comparison)))

    with _keeping_policies(project, batch):
        yield from _each(project, batch, both)


def _keeping_policies(project: Project, batch: tuple[ClusterFiles, ...]) -> AbstractContextManager[None]:
    """Where more than one cluster is judged by them."""
    if len(batch) > 1 and project.judging_policies.files.admission:
        return project.admission_reviews.keeping()
    return nullcontext()


def _compared(folder: GeneratedFolder) -> Comparison | Diagnostic:
    return against_disk(folder.root, folder.path, folder.files, folder.subject)


def _judged(
    project: Project, run: ClusterRun, folder: GeneratedFolder, comparison: Comparison | Diagnostic
) -> ClusterResult:
    from poolsmith.guard.rules.schema.object_schemas import against_cluster
    from poolsmith.interface.app.cluster_judgement import judge_cluster  # rules are for those who judge
    from poolsmith.interface.app.output_judgement import judge_compared

    assert run.loaded.cluster is not None, "it is generated"
    judgement = judge_cluster(project, run)
    if run.loaded.cluster.spec.beside:
        from poolsmith.project.run.neighbours import judge_neighbours  # on demand

        beside = judge_neighbours(project, run)
        judgement = replace(
            judgement,
            diagnostics=(*judgement.diagnostics, *beside.diagnostics),
            checked=judgement.checked | {"files beside the stack": beside.files},
            reads_elsewhere=True,
        )
    against = against_cluster(run.loaded.cluster, project.catalog)
    result = _result(project, run, judge_compared(folder, comparison, against, known=project.faultless))
    return replace(
        result,
        diagnostics=(*result.diagnostics, *judgement.diagnostics),
        judgement=judgement,
        beside=run.loaded.cluster.spec.beside,
    )


def _each(
    project: Project, batch: tuple[ClusterFiles, ...], finish: Callable[[ClusterRun, GeneratedFolder], ClusterResult]
) -> Iterator[ClusterResult]:
    with rarely_collecting():
        for files in batch:
            run = run_cluster(project, files)
            if run.files is None or run.tree is None:
                yield _result(project, run, None)
                continue
            name = run.loaded.name
            path = f"{CLUSTERS}/{name}"
            yield finish(
                run, GeneratedFolder(root=project.output_root, path=path, subject=name, tree=run.tree, files=run.files)
            )


def _result(project: Project, run: ClusterRun, folder: FolderResult | None) -> ClusterResult:
    plan = run.plan if folder is not None else None
    admission = namespaces_of(run.admission)
    return ClusterResult(
        name=run.loaded.name,
        diagnostics=run.diagnostics,
        pools=len(run.loaded.pools),
        used_bases=run.loaded.used_bases,
        folder=folder,
        fleet_entry=fleet_entry(plan, admission) if plan is not None else None,
        admission=admission,
        unlisted_drivers=driver_pools(plan) if plan is not None and project.fleet.driver_images is None else 0,
    )
