"""Use case: what a change does, held against the revision that it is to be merged into.

Git is read without touching the work tree. Clusters that the change can't do anything to are not even loaded.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.change.diff.finding_changes import finding_changes
from poolsmith.change.diff.likeness import renamed_clusters
from poolsmith.change.diff.self_grants import self_grants
from poolsmith.change.diff.touched_clusters import cluster_names, may_extend, touched_bases
from poolsmith.core.diagnostics import UsageError, sorted_unique
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.core.record import record
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.guard.policies.apply import JudgingOptions
from poolsmith.guard.policies.policies import Policies
from poolsmith.interface.app.diff_shared import shared_findings
from poolsmith.interface.app.diff_side import Pair
from poolsmith.interface.app.diff_sides import both_sides
from poolsmith.interface.app.progress import Progress, silent
from poolsmith.project.output.batches import in_batches
from poolsmith.project.output.collector import rarely_collecting
from poolsmith.project.run.facts import with_facts

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from poolsmith.interface.app.diff_pairs import PairResult
    from poolsmith.interface.app.diff_sides import BothSides


_FEW_PAIRS = 3
"""So many clusters are compared sooner than another process is started."""


@record
class DiffOptions:
    """What is compared and how. Without a `base` it is the merge base with the remote's default branch; without a
    `head`, what is checked out. `accepted` are those of ACCEPTABLE that somebody who may do so has accepted."""

    today: dt.date
    base: str | None = None
    head: str | None = None
    clusters: tuple[str, ...] = ()
    jobs: int = 1
    accepted: frozenset[str] = frozenset()


@with_facts
def diff(root: Path, options: DiffOptions, progress: Progress = silent) -> ChangeReport:
    """Raises UsageError, NoInputError."""
    with rarely_collecting(), both_sides(root, options.base, options.head, options.accepted) as sides:
        return _report(sides, options, progress)


def _report(sides: BothSides, options: DiffOptions, progress: Progress) -> ChangeReport:
    judging = JudgingOptions(today=options.today, base=sides.base, accepted=options.accepted)
    pairs = _pairs(sides)
    chosen = tuple(_chosen(pairs, options.clusters))
    results = _compared(sides, [pair for pair in chosen if pair.is_touched], judging, options.jobs, progress)
    shared = shared_findings(sides, judging, [pair for pair in pairs if pair.is_touched])
    new, fixed = finding_changes(shared.before, shared.after, {})
    told = [item for item in results if item.diff is not None]
    return ChangeReport(
        base=sides.revisions[0],
        head=sides.revisions[1],
        why_all=sides.touched.why_all,
        self_grants=self_grants(Policies(sides.base.folder), sides.after.project.policies, shared.judge_changes),
        clusters=tuple(item.diff for item in told if item.diff is not None),
        unchanged_clusters=sum(pair.after is not None for pair in chosen) - sum(item.is_there for item in told),
        pools=sum(item.pools for item in told),
        new_findings=sorted_unique((*new, *(one for item in results for one in item.new))),
        fixed_findings=sorted_unique((*fixed, *(one for item in results for one in item.fixed))),
    )


def _compared(
    sides: BothSides, work: Sequence[Pair], judging: JudgingOptions, jobs: int, progress: Progress
) -> list[PairResult]:
    if not work:
        return []
    from poolsmith.interface.app.diff_pairs import PairContext, diff_pairs  # on demand: all rules

    context = PairContext(before=sides.before, after=sides.after, had_profiles=sides.had_profiles, judging=judging)
    progress(0, len(work))
    results: list[PairResult] = []
    for result in in_batches(partial(diff_pairs, context), work, jobs, few=_FEW_PAIRS):
        results.append(result)
        progress(len(results), len(work))
    return sorted(results, key=lambda item: item.name)


def _pairs(sides: BothSides) -> list[Pair]:
    """The clusters of both sides, by the name that they have now; renamed ones are told by their content."""
    before, after, found = sides.before.project, sides.after.project, sides.touched
    then = {files.name: files for files in before.fleet.clusters} if sides.had_profiles else {}
    now = {files.name: files for files in after.fleet.clusters}
    names = cluster_names(sides.before.files)
    gone = {
        name: load_cluster(before.tree, then[name], before.bases, before.rings) for name in sorted(names - now.keys())
    }
    come = {name: load_cluster(after.tree, now[name], after.bases, after.rings) for name in sorted(now.keys() - names)}
    renamed = renamed_clusters(gone, come)
    bases = touched_bases(found, (before.bases, after.bases)) if found.bases else frozenset()
    pairs = []
    for name, files in now.items():
        is_touched = (
            bool(found.why_all)
            or name in come
            or name in found.by_folder
            or (bool(bases) and may_extend(after.tree, files, bases))
        )
        older = then.get(renamed.get(name, name)) if is_touched else files
        pairs.append(Pair(before=older, after=files, is_touched=is_touched))
    pairs += [Pair(before=then[name], after=None) for name in gone if name not in renamed.values()]
    return sorted(pairs, key=lambda pair: pair.name)


def _chosen(pairs: Sequence[Pair], names: Sequence[str]) -> Iterator[Pair]:
    known = {name for pair in pairs for name in pair.names}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, sorted(known))}")
    yield from (pair for pair in pairs if not names or not pair.names.isdisjoint(names))
