"""Use cases: judge a project and its committed output, and compare it with what `generate` would write.

The rules and the generator are loaded only for what is not remembered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.interface.app.memory import COMPARING, JUDGING, recall
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.interface.app.results import GenerateResult
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.output.result_store import ResultStore
    from poolsmith.project.run.project import Project


@with_facts
def check_project(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    jobs: int | Workers = 1,
    kubeconform: str | None = None,
    progress: Progress = silent,
    judging: JudgingOptions | None = None,
    store: ResultStore | None = None,
    rehash: bool = False,
    output_at: Path | None = None,
    loaded: Project | None = None,
) -> Outcome:
    """Profiles, drift of the output, and the manifest rules and schemas on what is committed.

    `kubeconform` asks for a second opinion: a path, or the empty string for the one on PATH. `store` and `rehash` as
    for `compare`; who is judged by the policies of another revision is never answered from the store. `loaded` as for
    `open_run`. Raises UsageError, NoInputError.
    """
    from poolsmith.guard.policies.applied_policies import JudgingOptions  # on demand

    judging = judging or JudgingOptions()
    result = _judged(root, clusters, jobs, progress, judging, store, loaded, rehash=rehash, output_at=output_at)
    outcome = outcome_of(result)
    if kubeconform is not None:
        from poolsmith.interface.app.check import committed, with_opinion  # schemas, for who asked for it

        outcome = with_opinion(outcome, kubeconform, root, lambda: committed(output_at or root, clusters))
    return _as_strict(outcome, judging)


def strict_outcome(result: GenerateResult, judging: JudgingOptions) -> Outcome:
    """Of all rules, as strict as it is asked for."""
    return _as_strict(outcome_of(result), judging)


def _as_strict(outcome: Outcome, judging: JudgingOptions) -> Outcome:
    from poolsmith.guard.policies.applied_policies import strictly  # on demand

    return strictly(outcome) if judging.strict else outcome


def outcome_of(result: GenerateResult) -> Outcome:
    """Of all rules; it says whether the output is current."""
    if not result.is_current or result.outcome.skipped_for_errors:
        return result.outcome
    current = "the output is what the profiles generate"
    return replace(result.outcome, facts=(current, *result.outcome.facts))


def _judged(
    root: Path,
    clusters: Sequence[str],
    jobs: int | Workers,
    progress: Progress,
    judging: JudgingOptions,
    store: ResultStore | None,
    loaded: Project | None,
    *,
    rehash: bool,
    output_at: Path | None,
) -> GenerateResult:
    if judging.judged_by is not None or output_at is not None:
        store = None
    memory = recall(store, root, JUDGING, clusters, about=judging.today.isoformat(), rehash=rehash)
    if memory is not None and (known := memory.result()) is not None:
        return known
    from poolsmith.guard.policies.applied_policies import POLICY_WIDENING  # on demand
    from poolsmith.interface.app.judge import judge  # all rules
    from poolsmith.interface.app.run import NOTHING_KNOWN, KnownResults, open_run

    run = open_run(
        root,
        clusters,
        jobs=jobs,
        progress=progress,
        judged_by=judging.judged_by,
        first_supply=POLICY_WIDENING in judging.accepted,
        output_at=output_at,
        loaded=loaded,
    )
    judged = judge(run, judging, KnownResults(memory.clusters()) if memory is not None else NOTHING_KNOWN)
    if memory is not None and judged.is_lasting:
        memory.keep(judged.result, judged.fresh)
    return judged.result


@with_facts
def compare(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    jobs: int | Workers = 1,
    progress: Progress = silent,
    store: ResultStore | None = None,
    rehash: bool = False,
    output_at: Path | None = None,
) -> GenerateResult:
    """What `generate` would change; nothing is written below `root`.

    With a store, clusters whose bytes are those of an earlier run are not generated again. `rehash`: all bytes are
    read again, whatever the file system says of them. `output_at` as for `generate`. Raises UsageError, NoInputError.
    """
    store = store if output_at is None else None
    memory = recall(store, root, COMPARING, clusters, rehash=rehash)
    if memory is not None and (known := memory.result()) is not None:
        return known
    from poolsmith.interface.app.generate import compare_anew  # the whole generator

    return compare_anew(root, clusters=clusters, jobs=jobs, progress=progress, memory=memory, output_at=output_at)
