"""Use case: the shards of one run merged into what the run over all clusters would have reported.

What the profiles of a cluster alone determine is not in the reports: the merge finds it out by itself.
"""

from __future__ import annotations

import datetime as dt
import stat
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.core.diagnostics.message_text import listed, one_line, printable
from poolsmith.core.record import record
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.guard.policies.applied_policies import ACCEPTABLE, JudgingOptions
from poolsmith.guard.policies.revision import MergedTree, base_at
from poolsmith.interface.app.generate import compare_all, unwritten, with_settings, write
from poolsmith.interface.app.memory import cluster_names
from poolsmith.interface.app.run import KnownResults, open_run
from poolsmith.interface.app.shard_part import (
    CHECK,
    GENERATE,
    ShardError,
    ShardPart,
    ShardQuestion,
    files_of,
    knows_grants,
    question,
    read_part,
    with_beside,
)
from poolsmith.interface.app.sharded import judged_outcome, question_of, run_for
from poolsmith.project.output.argocd_fleet import FleetEntry, fleet_entry
from poolsmith.project.output.batches import in_batches, rarely_collecting
from poolsmith.project.run.facts import facts_of, with_facts
from poolsmith.project.run.judged_tree import WORK_TREE, JudgedSubject, judged_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.interface.app.run import ClusterResult, Run
    from poolsmith.project.run.project import Project


_FEW_CLUSTERS = 12
"""So many are looked at sooner than another process is started."""


@record(kw_only=False)
class ReportedCluster:
    """A cluster, and what somebody has told of it: whether its profiles are sound, and the namespaces of what its API
    server is to enforce (None for nothing), which follow from what it will run."""

    files: ClusterFiles
    is_sound: bool
    admission: tuple[str, ...] | None


@record
class ProfileFacts:
    """Of one cluster. `is_sound`: output can be generated from its profiles; of one that delivers by no Argo CD that is
    believed where it was told. `beside` are the paths that its profile names."""

    name: str
    is_sound: bool = False
    beside: tuple[str, ...] = ()
    fleet_entry: FleetEntry | None = None


def profile_facts(project: Project, clusters: Sequence[ReportedCluster], jobs: int) -> Iterator[ProfileFacts]:
    """In any order. More than a few are shared by processes."""
    return in_batches(partial(_facts_of, project), clusters, jobs, few=_FEW_CLUSTERS, folders=project.folders)


def _facts_of(project: Project, batch: tuple[ReportedCluster, ...]) -> Iterator[ProfileFacts]:
    with rarely_collecting():
        for told in batch:
            yield _facts(project, told)


def _facts(project: Project, told: ReportedCluster) -> ProfileFacts:
    loaded = load_cluster(project.tree, told.files, project.bases, project.rings)
    is_broken = any(item.severity is Severity.ERROR for item in loaded.problems)
    if is_broken or loaded.cluster is None or not project.unsound_bases.isdisjoint(loaded.used_bases):
        return ProfileFacts(name=told.files.name)
    spec = loaded.cluster.spec
    if told.is_sound and spec.delivery.engine is not Engine.ARGOCD:
        return ProfileFacts(name=told.files.name, is_sound=True, beside=spec.beside)
    plan = resolve_cluster(loaded, project.catalog).plan
    entry = fleet_entry(plan, told.admission) if plan is not None else None
    return ProfileFacts(name=told.files.name, is_sound=plan is not None, beside=spec.beside, fleet_entry=entry)


_FEW = 8
_LONGEST = 200
_MOST_BYTES, _MOST_MORE = 32 << 20, 64 << 10
"""Of a report: so many, and so many more for each cluster of the project."""


@record(kw_only=False)
class MergedReports:
    """What the run over all clusters would have said. `is_current`: nothing that it was asked about is out of date."""

    outcome: Outcome
    is_current: bool = True


@with_facts
def merge(root: Path, paths: Sequence[Path], *, writes: bool = False, jobs: int = 1) -> MergedReports:
    """The JSON reports of all shards of a run, over the files that they were made from.

    Shards of `generate` have written their clusters; what spans clusters is written now, which has to be asked for.
    Raises UsageError, NoInputError, ShardError, WriteError.
    """
    count = len(cluster_names(str(root)))
    most = _MOST_BYTES + count * _MOST_MORE
    parts = _whole([(printable(str(path)), read_part(_text_of(path, most), _called(path), count)) for path in paths])
    asked = parts[0].question
    if writes != (asked.work == GENERATE):
        raise UsageError(
            "these are shards of `generate`, which have written their clusters: --write writes what spans them"
            if asked.work == GENERATE
            else f"--write is for shards of `generate`; these are of `{asked.work}`, which writes nothing"
        )
    if asked.work == CHECK:
        return MergedReports(_checked(root, parts, asked, jobs))
    run = open_run(root, jobs=jobs)
    known = _known(run, parts, question(run.project, asked.work), jobs)
    if writes:
        return MergedReports(with_settings(run, write(run, lambda: known.results).result).outcome)
    totals = compare_all(run, known.results)
    result = with_settings(run, unwritten(run, totals, totals.outcome()))
    return MergedReports(result.outcome, result.is_current)


def _checked(root: Path, parts: Sequence[ShardPart], asked: ShardQuestion, jobs: int) -> Outcome:
    """By the day of the shard that was the last to begin."""
    try:
        days = {dt.date.fromisoformat(part.question.today) for part in parts}
    except ValueError:
        raise ShardError("the day of a shard is none") from None
    if max(days) - min(days) > dt.timedelta(days=1):
        raise ShardError(f"the shards are of different runs: of {min(days)}, and of {max(days)}")
    if not set(asked.accepted) <= set(ACCEPTABLE):
        raise ShardError("a shard accepts what nobody can accept")
    judging = JudgingOptions(today=max(days), strict=asked.strict, accepted=frozenset(asked.accepted))
    if not asked.subject:
        outcome = _judged(root, root, parts, judging, jobs)
        return replace(outcome, judged=WORK_TREE) if asked.base else outcome
    with judged_tree(root, JudgedSubject(asked.subject)) as tree, facts_of(tree.root):
        assert tree.files is not None, "only the work tree has none"
        merged = MergedTree(repository=tree.repository, files=tree.files, subject=asked.subject)
        return tree.named_in(_judged(root, tree.root, parts, replace(judging, merged=merged), jobs))


def _judged(root: Path, folder: Path, parts: Sequence[ShardPart], judging: JudgingOptions, jobs: int) -> Outcome:
    """`folder` holds what is judged, `root` is the one that git is asked about."""
    asked = parts[0].question
    if unlike := _unlike(question(open_run(folder).project, CHECK), asked, _OF_FILES):
        raise ShardError(f"the shards are of other files, or of another poolsmith: {unlike}")
    with base_at(root, asked.base) if asked.base else nullcontext() as base:
        judging = replace(judging, base=base)
        run = run_for(folder, judging, jobs=jobs)
        known = _known(run, parts, question_of(run, judging), jobs)
        return judged_outcome(run, judging, known).outcome


def _called(path: Path) -> str:
    return one_line(printable(str(path)), _LONGEST)


def _text_of(path: Path, most: int) -> str:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{_called(path)} can't be read: it is no file")
        if about.st_size > most:
            raise ShardError(f"{_called(path)} is larger than {most:,} bytes: no report of so many clusters is")
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{_called(path)} can't be read: {getattr(error, 'strerror', None) or error}") from None


def _whole(parts: Sequence[tuple[str, ShardPart]]) -> tuple[ShardPart, ...]:
    """In order. Raises ShardError where they are not all shards of one run, each once."""
    first_path, first = parts[0]
    by_number: dict[int, tuple[str, ShardPart]] = {}
    for path, part in parts:
        unlike = _unlike(first.question, part.question, _OF_A_RUN)
        if part.shard.of != first.shard.of:
            unlike = f"one of {part.shard.of} shards, and one of {first.shard.of}"
        if unlike:
            raise ShardError(f"{path} and {first_path} are of different runs: {unlike}")
        if part.shard.number in by_number:
            raise ShardError(f"{path} and {by_number[part.shard.number][0]} are both shard {part.shard}")
        by_number[part.shard.number] = (path, part)
    of = first.shard.of
    if lacking := [str(number) for number in range(1, of + 1) if number not in by_number]:
        raise ShardError(
            f"of {of} shards {listed(lacking, _FEW)} are not among the files; their clusters are not reported"
        )
    return tuple(by_number[number][1] for number in range(1, of + 1))


_OF_A_RUN = tuple(item.name for item in fields(ShardQuestion) if item.name != "today")
"""What is the same in all shards. Days may differ: a run may begin before midnight."""
_OF_FILES = ("tool", "catalog", "clusters", "shared")


def _unlike(one: ShardQuestion, other: ShardQuestion, names: Iterable[str]) -> str:
    """What two questions have otherwise; empty for nothing."""
    for name in names:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours != theirs:
            return f"{name} is {_shown(theirs)}, and not {_shown(ours)}"
    return ""


def _shown(value: Any) -> str:
    return f"`{one_line(printable(str(value)), _LONGEST)}`" if value not in ("", ()) else "none"


def _known(run: Run, parts: Sequence[ShardPart], here: ShardQuestion, jobs: int) -> KnownResults:
    """What the shards found out, once it is certain that they looked at these very files. Raises ShardError."""
    if unlike := _unlike(here, parts[0].question, _OF_A_RUN):
        raise ShardError(f"the shards are of other files, or of another poolsmith: {unlike}")
    digests, results, reviews = {}, {}, {}
    grants = run.project.judging_policies.book.grants
    for part in parts:
        names = [item.result.name for item in part.clusters]
        if names != sorted(files.name for files in part.shard.part(run.selected)):
            raise ShardError(f"shard {part.shard} has other clusters than those of its part: {_few(names)}")
        for item in part.clusters:
            name = item.result.name
            if not knows_grants(item.result.judgement, grants):
                raise ShardError(f"shard {part.shard} is damaged: {name} uses grants that there are none of")
            digests[name], results[name], reviews[name] = item.files, item.result, item.review
    return KnownResults(_with_facts(run, results, digests, jobs), reviews)


def _few(names: Sequence[str]) -> str:
    return one_line(printable(listed(names, _FEW)), _LONGEST)


def _with_facts(
    run: Run, results: dict[str, ClusterResult], digests: dict[str, str], jobs: int
) -> dict[str, ClusterResult]:
    """With what profiles tell by themselves. Raises ShardError where something was looked at that is not here."""
    clusters = [
        ReportedCluster(files, results[files.name].folder is not None, results[files.name].admission)
        for files in run.selected
    ]
    for found in profile_facts(run.project, clusters, jobs):
        result = results[found.name]
        beside = found.beside if result.judgement is not None else ()
        if digests[found.name] != with_beside(run.project, files_of(run.project, found.name), beside):
            raise ShardError(
                f"a shard is of other files: profiles/{found.name}, output/clusters/{found.name} or what the profile "
                "names beside them is not what it looked at; merge in a checkout of the commit that the shards had"
            )
        if found.is_sound is not (result.folder is not None):
            raise ShardError(f"a shard is damaged: it says of {found.name} what its profiles do not")
        results[found.name] = replace(result, fleet_entry=found.fleet_entry)
    return results
