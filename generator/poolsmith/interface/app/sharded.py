"""Use cases: what one machine of a matrix does, a shard of the clusters. `merge` puts the shards together.

Findings that span clusters are made by the merge; a shard reports those that its own clusters show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.guard.policies.applied_policies import POLICY_WIDENING, JudgingOptions
from poolsmith.interface.app.check_project import strict_outcome
from poolsmith.interface.app.generate import compare_all, unwritten, with_settings, write
from poolsmith.interface.app.judge import judge
from poolsmith.interface.app.run import NOTHING_KNOWN, open_run
from poolsmith.interface.app.shard_part import CHECK, COMPARE, GENERATE, ShardQuestion, files_of, part_of, question
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.app.judge import Judged
    from poolsmith.interface.app.results import GenerateResult
    from poolsmith.interface.app.run import ClusterResult, KnownResults, Run
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.run.run_options import Shard


@with_facts
def check_shard(
    root: Path,
    shard: Shard,
    *,
    jobs: int | Workers = 1,
    progress: Progress = silent,
    judging: JudgingOptions | None = None,
) -> Outcome:
    """As `check_project`, of the shard's clusters. The outcome has what `merge` needs.

    Raises UsageError, NoInputError.
    """
    judging = judging or JudgingOptions()
    run = run_for(root, judging, shard, jobs=jobs, progress=progress)
    asked, files = question_of(run, judging), _files(run)
    told = judged_outcome(run, judging)
    return _with_part(run, shard, asked, files, told.outcome, told.judged.fresh, told.judged.reviews)


@with_facts
def compare_shard(root: Path, shard: Shard, *, jobs: int | Workers = 1, progress: Progress = silent) -> GenerateResult:
    """As `compare`, of the shard's clusters. Raises UsageError, NoInputError."""
    run = open_run(root, jobs=jobs, progress=progress, shard=shard)
    asked, files = question(run.project, COMPARE), _files(run)
    totals = compare_all(run)
    result = with_settings(run, unwritten(run, totals, totals.outcome()))
    return replace(result, outcome=_with_part(run, shard, asked, files, result.outcome, totals.fresh, {}))


@with_facts
def generate_shard(root: Path, shard: Shard, *, jobs: int | Workers = 1, progress: Progress = silent) -> GenerateResult:
    """Write the shard's clusters, and nothing where one of them has an error; what spans clusters is written by the
    merge. Raises UsageError, NoInputError, WriteError."""
    run = open_run(root, jobs=jobs, progress=progress, shard=shard)
    asked = question(run.project, GENERATE)
    written = write(run)
    result = with_settings(run, written.result)
    fresh = map(_in_place, written.fresh)
    return replace(result, outcome=_with_part(run, shard, asked, _files(run), result.outcome, fresh, {}))


@record
class JudgedOutcome:
    """What is told of a run that was judged."""

    outcome: Outcome
    judged: Judged


def judged_outcome(run: Run, judging: JudgingOptions, known: KnownResults = NOTHING_KNOWN) -> JudgedOutcome:
    """As `check_project` tells it."""
    judged = judge(run, judging, known)
    return JudgedOutcome(outcome=strict_outcome(judged.result, judging), judged=judged)


def _files(run: Run) -> dict[str, str]:
    """Digests of what the clusters of a run follow from."""
    return {files.name: files_of(run.project, files.name) for files in run.selected}


def run_for(
    root: Path,
    judging: JudgingOptions,
    shard: Shard | None = None,
    *,
    jobs: int | Workers = 1,
    progress: Progress = silent,
) -> Run:
    """A run that is judged as the options say. Raises UsageError, NoInputError."""
    return open_run(
        root,
        jobs=jobs,
        progress=progress,
        judged_by=judging.judged_by,
        first_supply=POLICY_WIDENING in judging.accepted,
        shard=shard,
    )


def question_of(run: Run, judging: JudgingOptions) -> ShardQuestion:
    """Of a check."""
    return question(
        run.project,
        CHECK,
        today=judging.today.isoformat(),
        strict=judging.strict,
        base=judging.base.commit if judging.base is not None else "",
        accepted=tuple(sorted(judging.accepted)),
        subject=judging.merged.subject if judging.merged is not None else "",
    )


def _in_place(item: ClusterResult) -> ClusterResult:
    """What was staged stands in its place by now, or is gone."""
    return item if item.folder is None else replace(item, folder=replace(item.folder, staged=None))


def _with_part(
    run: Run,
    shard: Shard,
    asked: ShardQuestion,
    files: Mapping[str, str],
    outcome: Outcome,
    fresh: Iterable[ClusterResult],
    reviews: Mapping[str, tuple[Diagnostic, ...]],
) -> Outcome:
    clusters = f"{len(run.selected)} of {counted(asked.clusters, 'cluster')}"
    here = f"shard {shard}: {clusters}; `poolsmith report merge` reports all of them"
    part = part_of(run.project, shard, asked, files, fresh, reviews)
    return replace(outcome, facts=(here, *outcome.facts), shard=part)
