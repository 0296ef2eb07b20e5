"""Use case: generate the output, or say what would change.

Nothing is written unless every profile is sound: clusters are staged one by one, and put in place together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from poolsmith.app.cluster_run import compare, link_in_the_way
from poolsmith.app.project import CLUSTERS, FLEET, OUTPUT, Project, open_project
from poolsmith.app.settle import FLEET_NAME, ClusterResult, Mode, run_batch, run_fleet
from poolsmith.app.writer import only_writer
from poolsmith.diagnostics import Diagnostic, Severity, diagnose, sorted_unique, whole_file
from poolsmith.diagnostics.codes import hygiene, shape
from poolsmith.diagnostics.listing import joined
from poolsmith.diagnostics.outcome import Outcome, Skipped
from poolsmith.output.batches import in_batches
from poolsmith.output.comparison import foreign_diagnostics, hand_edit
from poolsmith.output.lock_file import LOCK
from poolsmith.policies.verdicts import Verdicts, with_policies
from poolsmith.profiles.fleet import PROFILES
from poolsmith.rules.prediction.driver_images import without_list
from poolsmith.rules.registry import RULES
from poolsmith.rules.schema.object_schemas import with_schema_results
from poolsmith.sources.output_tree import Staged, is_interrupted, recover, stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.app.cluster_judgement import Judgement
    from poolsmith.app.fleet_judgement import FleetJudgement
    from poolsmith.app.output_rules import Judged
    from poolsmith.output.fleet import FleetEntry
    from poolsmith.profiles.fleet import ClusterFiles

Progress = Callable[[int, int], None]
_BLOCKED = "nothing was written: there are errors"
_FEW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateResult:
    """`changed` are clusters that were written, or would be."""

    outcome: Outcome
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    written: bool = False


@dataclass(slots=True)
class _Totals:
    diagnostics: list[Diagnostic] = field(default_factory=list)
    staged: list[Staged] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    used_bases: set[str] = field(default_factory=set)
    pools: int = 0
    files: int = 0
    unlisted_drivers: int = 0
    judged: list[Judged] = field(default_factory=list)
    fleet: list[FleetEntry] = field(default_factory=list)
    unplanned: int = 0
    judgements: dict[str, Judgement] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)

    def add(self, result: ClusterResult) -> None:
        self.diagnostics.extend(result.diagnostics)
        self.used_bases |= result.used_bases
        self.pools += result.pools
        self.unlisted_drivers += result.unlisted_drivers
        self.files += result.files
        self.unplanned += not result.planned
        if result.judgement is not None:
            self.judgements[result.name] = result.judgement
        if result.changed:
            self.changed.append(result.name)
        if result.staged is not None:
            self.staged.append(result.staged)
        if result.fleet_entry is not None:
            self.fleet.append(result.fleet_entry)
        if result.judged is not None:
            self.judged.append(result.judged)
            self.diagnostics.extend(result.judged.diagnostics)


def generate(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    mode: Mode = Mode.WRITE,
    jobs: int = 1,
    progress: Progress = lambda _done, _total: None,
    verdicts: Verdicts | None = None,
) -> GenerateResult:
    """Generate the clusters named, or all. COMPARE and JUDGE write nothing; JUDGE runs the manifest rules too.

    Raises UsageError, NoInputError, WriteError.
    """
    verdicts = verdicts or Verdicts()
    project = open_project(root, verdicts.judged_by)
    result = _generate(project, clusters, mode, jobs, progress, verdicts)
    complete = mode is Mode.JUDGE and not clusters and not result.outcome.skipped_for_errors
    today = verdicts.today if mode is Mode.JUDGE else None
    outcome = with_policies(result.outcome, project.judging_policies, today=today, complete=complete)
    return replace(result, outcome=outcome)


def _generate(
    project: Project, clusters: Sequence[str], mode: Mode, jobs: int, progress: Progress, verdicts: Verdicts
) -> GenerateResult:
    selected = project.select(clusters)
    if mode is not Mode.WRITE:
        return _compare(project, selected, clusters, mode, jobs, progress, verdicts)
    if link_in_the_way(project, CLUSTERS) is not None:
        result = _compare(project, selected, clusters, Mode.COMPARE, jobs, progress, verdicts)
        return replace(result, outcome=replace(result.outcome, facts=(_BLOCKED,)))
    with only_writer(project):
        recover(project.clusters_folder)
        recover(project.root / OUTPUT)
        return _write(project, selected, clusters, jobs, progress)


def _compare(
    project: Project,
    selected: Sequence[ClusterFiles],
    clusters: Sequence[str],
    mode: Mode,
    jobs: int,
    progress: Progress,
    verdicts: Verdicts,
) -> GenerateResult:
    if mode is Mode.JUDGE and project.judging_policies.files.admission:
        from poolsmith.policies.admission_check import forget

        forget()
    totals = _run_all(partial(run_batch, project, mode), selected, jobs, progress)
    _add_fleet_findings(project, totals, clusters)
    in_the_way = link_in_the_way(project, CLUSTERS)
    if not clusters and not totals.unplanned and in_the_way is None:
        totals.add(run_fleet(project, totals.fleet, mode))
    totals.diagnostics.extend([in_the_way] if in_the_way is not None else [])
    orphans = [] if clusters or in_the_way is not None else _orphans(project)
    for name in orphans:
        message = f"`{CLUSTERS}/{name}` was generated, and no profile describes the cluster"
        totals.diagnostics.append(diagnose(hygiene.ORPHANED_OUTPUT, message, whole_file(f"{CLUSTERS}/{name}")))
    if in_the_way is None and is_interrupted(project.clusters_folder):
        message = "an interrupted run left something behind"
        totals.diagnostics.append(diagnose(hygiene.OUT_OF_DATE, message, whole_file(CLUSTERS)))
    judgement = None
    if totals.judgements:
        from poolsmith.app.fleet_judgement import judge_fleet

        complete = not clusters and not totals.unplanned
        judgement = judge_fleet(project, totals.judgements, verdicts, complete=complete)
        totals.diagnostics.extend(judgement.diagnostics)
    return GenerateResult(
        outcome=_outcome(totals, len(selected), (), judgement),
        changed=tuple(sorted(totals.changed)),
        removed=tuple(orphans),
    )


def _write(
    project: Project, selected: Sequence[ClusterFiles], clusters: Sequence[str], jobs: int, progress: Progress
) -> GenerateResult:
    try:
        totals = _run_all(partial(run_batch, project, Mode.WRITE), selected, jobs, progress)
        _add_fleet_findings(project, totals, clusters)
        if not clusters and not totals.unplanned:
            totals.add(run_fleet(project, totals.fleet, Mode.WRITE))
        orphans = [] if clusters else _orphans(project)
        removals = [_removal(project, name, totals) for name in orphans]
        totals.staged.extend(removal for removal in removals if removal is not None)
        if totals.failed:
            for staged in totals.staged:
                staged.discard()
            return GenerateResult(outcome=_outcome(totals, len(selected), (_BLOCKED,)))
        for staged in totals.staged:
            staged.commit()
    except BaseException:
        recover(project.clusters_folder)
        recover(project.root / OUTPUT)
        raise
    changed = tuple(sorted(totals.changed))
    facts = (_sentence(changed, orphans, len(selected), totals.files),)
    return GenerateResult(
        outcome=_outcome(totals, len(selected), facts), changed=changed, removed=tuple(orphans), written=True
    )


def _run_all(
    work: Callable[[tuple[ClusterFiles, ...]], list[ClusterResult]],
    selected: Sequence[ClusterFiles],
    jobs: int,
    progress: Progress,
) -> _Totals:
    totals = _Totals()
    done = 0
    progress(0, len(selected))
    for count, results in in_batches(work, selected, jobs):
        for result in results:
            totals.add(result)
        done += count
        progress(done, len(selected))
    return totals


def _add_fleet_findings(project: Project, totals: _Totals, clusters: Sequence[str]) -> None:
    totals.diagnostics.extend(project.fleet.problems)
    totals.diagnostics.extend(project.bases.problems)
    totals.diagnostics.extend(project.driver_images[1])
    totals.diagnostics.extend(project.policies.problems)
    if project.judged_by is not None:
        from poolsmith.policies.changes import policy_changes

        totals.diagnostics.extend(policy_changes(project.policies, project.judging_policies))
    if clusters:
        return
    used = totals.used_bases | project.bases.used_by(project.bases.files.values())
    for name, file in project.bases.files.items():
        if name not in used:
            message = f"nothing extends the base `{name}`"
            totals.diagnostics.append(diagnose(shape.UNUSED_BASE, message, file.locate("/metadata/name")))


def _orphans(project: Project) -> list[str]:
    """Folders of the output that have a lock and no profile. Where profiles could not be read, nobody knows."""
    unread = {problem.primary.span.path for problem in project.fleet.problems}
    if PROFILES in unread:
        return []
    described = {files.name for files in project.fleet.clusters}
    described |= {path.removeprefix(f"{PROFILES}/") for path in unread}
    try:
        entries = sorted(os.listdir(project.clusters_folder))  # noqa: PTH208 - names only
    except OSError:
        return []
    folder = project.clusters_folder
    return [
        name
        for name in entries
        if name not in described and not name.startswith(".") and (folder / name / LOCK).is_file()
    ]


def _removal(project: Project, name: str, totals: _Totals) -> Staged | None:
    comparison = compare(project, f"{CLUSTERS}/{name}", {}, name)
    if isinstance(comparison, Diagnostic):
        totals.diagnostics.append(comparison)
        return None
    totals.diagnostics.extend(hand_edit(comparison, path, name, Severity.WARNING) for path in comparison.hand_edited())
    totals.diagnostics.extend(foreign_diagnostics(comparison, name))
    return stage(project.clusters_folder / name, {}, comparison.owned)


def _outcome(totals: _Totals, clusters: int, facts: tuple[str, ...], fleet: FleetJudgement | None = None) -> Outcome:
    checked = {"clusters": clusters, "pools": totals.pools, "generated files": totals.files}
    skipped = []
    if totals.unplanned:
        skipped.append(Skipped("generation", f"profiles have errors, in {totals.unplanned} of {clusters} clusters"))
    not_evaluated = 0
    if totals.judged:
        from poolsmith.app.cluster_judgement import counted
        from poolsmith.ledger.privilege_check import not_expanded
        from poolsmith.ledger.registry import PRIVILEGE_RULES
        from poolsmith.rules.setup.registry import SETUP_RULES

        checked["manifest files"] = sum(item.files for item in totals.judged)
        checked["objects"] = sum(item.objects for item in totals.judged)
        checked["rules"] = len(RULES) + len(PRIVILEGE_RULES) + len(SETUP_RULES)
        if others := sum(item.others for item in totals.judged):
            skipped.append(Skipped(f"{others} documents", "Helm values and label lists hold no Kubernetes objects"))
        if totals.unlisted_drivers:
            skipped.append(without_list(totals.unlisted_drivers))
        judgements = totals.judgements
        checked |= counted(judgements.values())
        skipped.extend(not_expanded({name: item.unknown for name, item in judgements.items()}))
        skipped.extend(skip for name in sorted(judgements) for skip in judgements[name].skipped)
        not_evaluated = sum(len(item.unknown) + item.not_evaluated for item in judgements.values())
    if fleet is not None:
        facts = (*facts, *fleet.facts)
        checked |= fleet.checked
        skipped.extend(fleet.skipped)
        not_evaluated += fleet.not_evaluated
    outcome = Outcome(
        diagnostics=sorted_unique(totals.diagnostics),
        checked=checked,
        skipped=tuple(skipped),
        not_evaluated=not_evaluated,
        facts=facts,
    )
    return with_schema_results(outcome, (item.schemas for item in totals.judged)) if totals.judged else outcome


def _sentence(changed: tuple[str, ...], removed: list[str], clusters: int, files: int) -> str:
    written = tuple(name for name in changed if name != FLEET_NAME)
    parts = []
    if written:
        parts.append(f"wrote {len(written)} of {clusters} clusters: {joined(written, _FEW)}")
    if FLEET_NAME in changed:
        parts.append(f"wrote {FLEET}")
    if removed:
        parts.append(f"removed {len(removed)} without a profile: {joined(removed, _FEW)}")
    return "; ".join(parts) if parts else f"nothing to write: {files:,} files are as the profiles generate them"
