"""Use cases: what one machine of a matrix does, a shard of the clusters. `merge` puts the shards together.

What spans clusters is told by the merge; of a shard it is said as far as its clusters tell it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.app.check_project import outcome_of
from poolsmith.app.facts import with_facts
from poolsmith.app.generate import compare_all, told, unwritten, write
from poolsmith.app.judge import judge
from poolsmith.app.progress import Progress, silent
from poolsmith.app.run import open_run
from poolsmith.app.shard_part import CHECK, COMPARE, GENERATE, Question, part_of, question
from poolsmith.diagnostics.listing import counted
from poolsmith.policies.apply import POLICY_WIDENING, JudgingOptions, strictly

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.app.cluster_result import ClusterResult
    from poolsmith.app.generate_result import GenerateResult
    from poolsmith.app.run import Run
    from poolsmith.app.shard import Shard
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.diagnostics.outcome import Outcome
    from poolsmith.output.crew import Workers


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
    asked = question_of(run, judging)
    judged = judge(run, judging)
    outcome = _with_part(run, shard, asked, outcome_of(judged.result), judged.fresh, judged.reviews)
    return strictly(outcome) if judging.strict else outcome


@with_facts
def compare_shard(root: Path, shard: Shard, *, jobs: int | Workers = 1, progress: Progress = silent) -> GenerateResult:
    """As `compare`, of the shard's clusters. Raises UsageError, NoInputError."""
    run = open_run(root, jobs=jobs, progress=progress, shard=shard)
    asked = question(run.project, COMPARE)
    totals = compare_all(run)
    return _result(run, shard, asked, told(run, unwritten(run, totals, totals.outcome())), totals.fresh)


@with_facts
def generate_shard(root: Path, shard: Shard, *, jobs: int | Workers = 1, progress: Progress = silent) -> GenerateResult:
    """Write the shard's clusters, and nothing where one of them has an error; what spans clusters is written by the
    merge. Raises UsageError, NoInputError, WriteError."""
    run = open_run(root, jobs=jobs, progress=progress, shard=shard)
    asked = question(run.project, GENERATE)
    written = write(run)
    return _result(run, shard, asked, told(run, written.result), map(_in_place, written.fresh))


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


def question_of(run: Run, judging: JudgingOptions) -> Question:
    """Of a check."""
    return question(
        run.project,
        CHECK,
        today=judging.today.isoformat(),
        strict=judging.strict,
        base=judging.base.commit if judging.base is not None else "",
        accepted=tuple(sorted(judging.accepted)),
    )


def _in_place(item: ClusterResult) -> ClusterResult:
    """What was staged stands in its place by now, or is gone."""
    return item if item.folder is None else replace(item, folder=replace(item.folder, staged=None))


def _result(
    run: Run, shard: Shard, asked: Question, result: GenerateResult, fresh: Iterable[ClusterResult]
) -> GenerateResult:
    return replace(result, outcome=_with_part(run, shard, asked, result.outcome, fresh, {}))


def _with_part(
    run: Run,
    shard: Shard,
    asked: Question,
    outcome: Outcome,
    fresh: Iterable[ClusterResult],
    reviews: Mapping[str, tuple[Diagnostic, ...]],
) -> Outcome:
    clusters = f"{len(run.selected)} of {counted(asked.clusters, 'cluster')}"
    here = f"shard {shard}: {clusters}; `poolsmith report merge` tells of all"
    part = part_of(run.project, shard, asked, fresh, reviews)
    return replace(outcome, facts=(here, *outcome.facts), shard=part)
