"""Clusters of both sides of a change, judged as `check` would and compared. Any process can do some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.delivery.departures import Handed
from poolsmith.change.delivery.objects import MadeDelivery, of_tree
from poolsmith.change.diff.change_findings import finding_changes
from poolsmith.change.diff.cluster_changes import BuiltCluster, Judges, cluster_diff, does_nothing, unknown_diff
from poolsmith.change.diff.object_changes import InstallationPairs
from poolsmith.change.diff.profile_changes import renamed_pools
from poolsmith.change.diff.sides import as_judged, held_by_side, present_in_git
from poolsmith.change.diff.tool_changes import tool_changes
from poolsmith.change.diff.unacknowledged import (
    cross_pool_changes,
    departure_findings,
    given_up_findings,
    refusal_findings,
    unacknowledged_changes,
)
from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
from poolsmith.change.takeover.engine_upgrades import upgraded_of
from poolsmith.core.record import record
from poolsmith.guard.rules.schema.object_schemas import against_cluster
from poolsmith.interface.app.cluster_judgement import judge_cluster, sorted_out
from poolsmith.interface.app.output_judgement import judge_compared
from poolsmith.interface.app.review import review_cluster
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import ClusterRun, run_cluster
from poolsmith.project.run.generated_folder import GeneratedFolder, against_disk, compared
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from poolsmith.change.diff.change_report import ClusterDiff, OtherPoolChange
    from poolsmith.change.diff.sides import Side, SidePair
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.policies.applied_policies import JudgingOptions


@record
class JudgedCluster:
    """A cluster of one side, and all findings on it as the policies that judge want them."""

    run: ClusterRun
    findings: tuple[Diagnostic, ...]

    @property
    def seen(self) -> SeenCluster | None:
        """None where the profiles have errors."""
        run = self.run
        if run.plan is None or run.prediction is None:
            return None
        return SeenCluster(loaded=run.loaded, plan=run.plan, prediction=run.prediction)


def judged_cluster(side: Side, files: ClusterFiles, today: dt.date) -> JudgedCluster:
    """All that `check` would say of one cluster and of its output."""
    project = side.project
    run = run_cluster(project, files)
    found = list(run.diagnostics)
    if run.files is not None and run.tree is not None and run.loaded.cluster is not None:
        judgement = judge_cluster(project, run)
        path = f"{CLUSTERS}/{files.name}"
        folder = GeneratedFolder(root=project.root, path=path, subject=files.name, tree=run.tree, files=run.files)
        comparison = (
            against_disk(project.root, path, run.files, files.name)
            if side.repository is None
            else compared(path, run.files, present_in_git(side, path, run.files), files.name)
        )
        result = judge_compared(folder, comparison, against_cluster(run.loaded.cluster, project.catalog), together=True)
        unevaluated = sorted_out(
            judgement.unevaluated,
            project.judging_supply,
            today,
            complete=False,
            needs_answer=project.judging_supply.is_kept,
        )
        found += [*result.diagnostics, *(result.findings.diagnostics if result.findings is not None else ())]
        found += [*judgement.diagnostics, *unevaluated.diagnostics]
    return JudgedCluster(run=run, findings=as_judged(project, found, today))


@record
class PairContext:
    """What every comparison needs. In another process both projects are loaded anew, once."""

    before: Side
    after: Side
    had_profiles: bool
    judging: JudgingOptions


@record
class PairResult:
    """`diff` is None where the change does nothing to the cluster; `is_there`: it is, after the change."""

    name: str
    is_there: bool
    diff: ClusterDiff | None
    pools: int
    new: tuple[Diagnostic, ...]
    fixed: tuple[Diagnostic, ...]


def diff_pairs(context: PairContext, batch: tuple[SidePair, ...]) -> Iterator[PairResult]:
    """Each pair, in order."""
    project = context.after.project.beside(context.before.project)
    policies = project.judging_policies
    grants = policies.book if policies.files.has_privileges else None
    judges = Judges(catalog=project.catalog, grants=grants, pairs=InstallationPairs())
    with rarely_collecting():
        for pair in batch:
            yield _compared(context, pair, judges)


def _compared(context: PairContext, pair: SidePair, judges: Judges) -> PairResult:
    today = context.judging.today
    before = judged_cluster(context.before, pair.before, today) if pair.before is not None else None
    after = judged_cluster(context.after, pair.after, today) if pair.after is not None else None
    others = _others(context, pair, before, after)
    found = [*(after.findings if after is not None else ()), *_reviewed(context, pair, before, after)]
    if after is not None and after.seen is not None:
        found += unacknowledged_changes(after.seen, others)
    diff = _diff(context, pair, before, after, judges, others)
    if before is not None and after is not None:
        found += upgraded_of(before.run, after.run)
        told = tuple(tool_changes(context.before, context.after, before.run, after.run))
        diff = replace(diff, release=(*diff.release, *told)) if told else diff
    if before is not None and before.seen is not None:
        found += departure_findings(before.seen, after.seen if after is not None else None, diff.departures)
        found += given_up_findings(before.seen, after.seen if after is not None else None)
    if after is not None and after.seen is not None:
        found += refusal_findings(after.seen, diff.disruptions)
    new, fixed = finding_changes(before.findings if before is not None else (), found, _new_names(before, after))
    return PairResult(
        name=pair.name,
        is_there=pair.after is not None,
        diff=None if does_nothing(diff) else diff,
        pools=len(after.run.loaded.pools) if after is not None else 0,
        new=new,
        fixed=fixed,
    )


def _others(
    context: PairContext, pair: SidePair, before: JudgedCluster | None, after: JudgedCluster | None
) -> tuple[OtherPoolChange, ...]:
    older, newer = (side.seen if side is not None else None for side in (before, after))
    return cross_pool_changes(context.after.project, ClusterChange(pair.name, older, newer))


def _diff(
    context: PairContext,
    pair: SidePair,
    before: JudgedCluster | None,
    after: JudgedCluster | None,
    judges: Judges,
    others: tuple[OtherPoolChange, ...],
) -> ClusterDiff:
    older, newer = _built(context.before, before), _built(context.after, after)
    if (before is None or older is not None) and (after is None or newer is not None):
        return cluster_diff(older, newer, judges, others)
    return unknown_diff(
        pair.name,
        was_there=before is not None,
        is_there=after is not None,
        was_sound=older is not None,
        is_sound=newer is not None,
    )


def _reviewed(
    context: PairContext, pair: SidePair, before: JudgedCluster | None, after: JudgedCluster | None
) -> Iterator[Diagnostic]:
    """As `check --policies-from` does: a cluster of another name is a new one, and the old one is gone."""
    older, newer = (side.seen if side is not None else None for side in (before, after))
    base = context.before.project if context.had_profiles else None
    if len(pair.names) > 1 and pair.before is not None:
        yield from review_cluster(
            context.after.project, base, ClusterChange(pair.before.name, older, None), context.judging
        )
        older = None
    yield from review_cluster(context.after.project, base, ClusterChange(pair.name, older, newer), context.judging)


def _built(side: Side, judged: JudgedCluster | None) -> BuiltCluster | None:
    if judged is None or judged.seen is None or judged.run.tree is None:
        return None
    seen, tree = judged.seen, judged.run.tree
    made = MadeDelivery(files=judged.run.files or {}, objects=of_tree(tree, seen.plan))
    handed = Handed(generated=made.objects, held=held_by_side(side, seen.plan.name, made))
    return BuiltCluster(seen=seen, tree=tree, handed=handed)


def _new_names(before: JudgedCluster | None, after: JudgedCluster | None) -> dict[str, str]:
    """Of pools, of the cluster and of the release, by old ones."""
    if before is None or after is None:
        return {}
    pools = renamed_pools(before.run.loaded, after.run.loaded)
    names = {old: new for new, old in pools.items()}
    if before.run.loaded.name != after.run.loaded.name:
        names[before.run.loaded.name] = after.run.loaded.name
    if before.seen is not None and after.seen is not None:
        old, new = (side.prediction.installation.release for side in (before.seen, after.seen))
        names |= {old: new} if old != new else {}
    return names
