"""Use case: generate and check in one run. Each cluster is planned, predicted and rendered once for both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import sorted_unique
from poolsmith.core.record import record
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app.check_project import strict_outcome
from poolsmith.interface.app.generate import with_settings, write
from poolsmith.interface.app.judge import judge
from poolsmith.interface.app.memory import JUDGING, recall
from poolsmith.interface.app.run import EMPTY, KnownResults, open_run, write_and_judge_clusters
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.app.results import GenerateResult
    from poolsmith.interface.app.run import ClusterResult
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.output.result_store import ResultStore


@record
class OneRun:
    """`generated` is what was written. `outcome` is what there is to say: of a check of what is written, or of what
    kept anything from being written."""

    generated: GenerateResult
    outcome: Outcome


@with_facts
def run_project(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    jobs: int | Workers = 1,
    progress: Progress = silent,
    judging: JudgingOptions | None = None,
    store: ResultStore | None = None,
    rehash: bool = False,
) -> OneRun:
    """Write what differs, and judge what then stands there. Raises UsageError, NoInputError, WriteError.

    `store` and `rehash` as for `check_project`: what that knows of clusters whose bytes are the same, this knows too.
    """
    judging = judging or JudgingOptions()
    memory = recall(store, root, JUDGING, clusters, about=judging.today.isoformat(), rehash=rehash)
    if memory is not None and (known := memory.result()) is not None and known.is_current:
        return OneRun(generated=replace(known, written=True), outcome=strict_outcome(known, judging))
    run = open_run(root, clusters, jobs=jobs, progress=progress)
    unchanged = _unchanged(memory.clusters() if memory is not None else EMPTY)
    as_generated = {name: item.as_generated() for name, item in unchanged.items()}
    written = write(run, lambda: as_generated, write_and_judge_clusters)
    generated = with_settings(run, written.result)
    if not generated.written:
        return OneRun(generated=generated, outcome=generated.outcome)
    judged_now = {item.name: item.judged for item in written.fresh if item.judged is not None}
    judged = judge(run, judging, KnownResults(results={**unchanged, **judged_now}))
    if memory is not None and judged.is_lasting:
        memory.keep(judged.result, tuple(judged_now.values()))
    return OneRun(generated=generated, outcome=_together(generated.outcome, strict_outcome(judged.result, judging)))


def _unchanged(known: Mapping[str, ClusterResult]) -> dict[str, ClusterResult]:
    """Clusters whose folders are as generated."""
    return {name: item for name, item in known.items() if item.folder is not None and not item.folder.changed}


def _together(generated: Outcome, checked: Outcome) -> Outcome:
    """A check's outcome, with what was written and what that said: files that were edited by hand, for one."""
    return replace(
        checked,
        diagnostics=sorted_unique((*checked.diagnostics, *generated.diagnostics)),
        facts=(*generated.facts, *checked.facts),
    )
