"""Use case: what a change adds, held against the base that it is to be merged into."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.departures import Handed, departures
from poolsmith.change.delivery.objects import held_by_base, held_on_disk, of_plan
from poolsmith.change.diff.cluster_changes import delivery_change
from poolsmith.change.diff.object_changes import refusals
from poolsmith.change.diff.profile_changes import renamed_clusters
from poolsmith.change.diff.unacknowledged import (
    cross_pool_changes,
    departure_findings,
    given_up_findings,
    refusal_findings,
    unacknowledged_changes,
)
from poolsmith.change.review.gained_settings import Elsewhere, gained_settings
from poolsmith.change.review.lost_safeguards import Shipped, changed_kind, left_ring, reordered_rings, switched_off
from poolsmith.change.review.pool_settings import gained_by_pools
from poolsmith.change.review.protections import lost_protections
from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
from poolsmith.core.diagnostics import NoInputError, diagnose, whole_file
from poolsmith.core.diagnostics.codes.outside import NO_SUPPLY_POLICY
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import LoadedCluster, cluster_alone, load_cluster
from poolsmith.guard.policies.policy_files import SUPPLY
from poolsmith.interface.app.repository_review import Reviewed, review_repository
from poolsmith.project.output.tree import render_cluster
from poolsmith.project.run.cluster_run import Admission, admission_of, plan_cluster
from poolsmith.project.run.project import Project, open_project

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.guard.policies.revision import BaseRevision
    from poolsmith.interface.app.run import Run


class Review:
    """All that a change would gain, and what nobody has accepted of it."""

    def __init__(self, run: Run, judging: JudgingOptions, base: BaseRevision) -> None:
        self._run = run
        self._judging = judging
        self._base = base

    @cached_property
    def _before(self) -> Project | None:
        return base_project(self._base)

    def of_repository(self) -> Iterator[Diagnostic]:
        """What is nothing of one cluster's."""
        run, before = self._run, self._before
        if not run.project.judging_supply.is_kept:
            yield diagnose(NO_SUPPLY_POLICY, "the base has no sound policies/supply.yaml", whole_file(SUPPLY))
        yield from review_repository(run.project, self._judging, self._base, _reviewed(run, before))
        if before is not None:
            yield from reordered_rings(before.rings, run.project.rings)

    def of_clusters(self, known: Collection[str] = ()) -> Iterator[tuple[str, tuple[Diagnostic, ...]]]:
        """By name, of each cluster of the run that the change touches or removes, but for those that are `known`."""
        for change in cluster_changes(self._run, self._before, known):
            yield change.name, tuple(self._of_cluster(change))

    def _of_cluster(self, change: ClusterChange) -> Iterator[Diagnostic]:
        project = self._run.project
        yield from review_cluster(project, self._before, change, self._judging)
        yield from self._departures(change)
        if change.after is not None:
            yield from unacknowledged_changes(change.after, cross_pool_changes(project, change))
            yield from self._refusals(change.before, change.after)

    def _refusals(self, before: SeenCluster | None, after: SeenCluster) -> Iterator[Diagnostic]:
        if before is None or self._before is None:
            return
        sides = ((self._before, before), (self._run.project, after))
        then, now = (render_cluster(seen.plan, side.texts.of(seen.prediction)) for side, seen in sides)
        yield from refusal_findings(after, refusals(before, after, (then, now)))

    def _departures(self, change: ClusterChange) -> Iterator[Diagnostic]:
        """What leaves the delivery. A cluster that is gone may have another name: then it is held against that one."""
        before = change.before
        if before is None:
            return
        after = change.after if change.after is not None else self._successors.get(change.name)
        root = self._run.project.output_root
        merged = self._judging.merged
        repository = merged.repository if merged is not None else self._run.project.root
        held = held_by_base(repository, self._base, before.plan.name)
        was, now = Handed(generated=of_plan(before.plan), held=held), None
        if after is not None:
            now = Handed(generated=of_plan(after.plan), held=held_on_disk(root, after.plan.name))
        yield from given_up_findings(before, after)
        yield from departure_findings(before, after, departures(delivery_change(before, after, was, now)))

    @cached_property
    def _successors(self) -> dict[str, SeenCluster]:
        """Clusters that are new by name and not by what they say, by the name that they had in the base."""
        before, project = self._before, self._run.project
        if before is None or not self._run.is_whole:
            return {}
        then = {files.name: files for files in before.fleet.clusters}
        now = {files.name: files for files in project.fleet.clusters}
        gone = {name: _loaded(before, then[name]) for name in then.keys() - now.keys()}
        come = {name: _loaded(project, now[name]) for name in now.keys() - then.keys()} if gone else {}
        found = ((old, _seen(project, now[new])) for new, old in renamed_clusters(gone, come).items())
        return {old: seen for old, seen in found if seen is not None}


def _reviewed(run: Run, before: Project | None) -> Reviewed:
    known = before.fleet.clusters if before is not None else ()
    return Reviewed(
        clusters=run.selected,
        known_clusters=frozenset(files.name for files in known),
        known=lambda: (cluster_alone(before.tree, files) for files in known if before is not None),
    )


def review_cluster(
    project: Project, before: Project | None, change: ClusterChange, judging: JudgingOptions
) -> Iterator[Diagnostic]:
    """What one cluster would gain, and what it would switch off."""
    supply = project.judging_supply

    def accepts(cluster: str, workload: str, text: str) -> bool:
        return supply.accepts_setting(cluster, workload, text, judging.today)

    if before is not None:
        yield from left_ring(change, before.rings)
    yield from changed_kind(change)
    yield from switched_off(change, project.judging_policies.admission[0], _shipped(project))
    yield from lost_protections(change, accepts)
    elsewhere = _elsewhere(project, before, change)
    yield from gained_by_pools(change, elsewhere.others, accepts)
    yield from gained_settings(change, elsewhere, accepts)


def _shipped(project: Project) -> Shipped:
    """What the base's policies produce for a cluster of either side."""
    policies = project.judging_policies

    def admission(seen: SeenCluster) -> Admission:
        assert seen.loaded.file is not None, "it was planned"
        return admission_of(policies, seen.prediction, seen.loaded.file)

    def met(seen: SeenCluster) -> Mapping[str, frozenset[str]]:
        tree = render_cluster(seen.plan, project.texts.of(seen.prediction), admission(seen).manifests)
        with closing(project.admission_reviews.ask(seen.prediction, tree)) as asked:
            return asked.met()

    return Shipped(files=lambda seen: frozenset(item.path for item in admission(seen).manifests), met=met)


def _elsewhere(project: Project, before: Project | None, change: ClusterChange) -> Elsewhere:
    def again(values: dict[str, Any]) -> Prediction | None:
        assert change.after is not None, "only of what is there"
        return _with_values(project, change.after.loaded, values)

    def others() -> Iterator[SeenCluster]:
        clusters = before.fleet.clusters if before is not None else ()
        seen = (_seen(before, files) for files in clusters if before is not None)
        return (one for one in seen if one is not None)

    return Elsewhere(
        again=again,
        others=others,
        without=lambda prediction, values: project.predictions.with_values(prediction, values).installation,
    )


def _with_values(project: Project, loaded: LoadedCluster, values: dict[str, Any]) -> Prediction | None:
    """The same profiles with other values; None where they do not fit together."""
    if loaded.cluster is None:
        return None
    spec = loaded.cluster.spec
    spec = replace(spec, stack=replace(spec.stack, values=values, upgrading_from=None))
    other = replace(loaded, cluster=replace(loaded.cluster, spec=spec))
    resolved = resolve_cluster(other, project.catalog)
    if resolved.plan is None:
        return None
    prediction = project.predictions.of(resolved.plan, other)
    return None if prediction.installation.errors else prediction


def cluster_changes(run: Run, before: Project | None, known: Collection[str] = ()) -> Iterator[ClusterChange]:
    """Of the clusters of a run, and of those that are gone; what is the same in all its files is no change. Nothing is
    made of those that are `known`."""
    then = {files.name: files for files in before.fleet.clusters} if before is not None else {}
    now = {files.name: files for files in run.selected}
    gone = then.keys() - {files.name for files in run.project.fleet.clusters} if run.is_whole else set()
    for name in sorted((now.keys() | gone) - set(known)):
        older = (before, then[name]) if before is not None and name in then else None
        newer = (run.project, now[name]) if name in now else None
        if older is None or newer is None or _inputs(*older) != _inputs(*newer):
            yield ClusterChange(name, older and _seen(*older), newer and _seen(*newer))


def base_project(base: BaseRevision) -> Project | None:
    """None where the base has no profiles."""
    try:
        return open_project(base.folder)
    except NoInputError:
        return None


def _loaded(project: Project, files: ClusterFiles) -> LoadedCluster:
    return load_cluster(project.tree, files, project.bases, project.rings)


def _inputs(project: Project, files: ClusterFiles) -> dict[str, str]:
    return _loaded(project, files).inputs


def _seen(project: Project, files: ClusterFiles) -> SeenCluster | None:
    planned = plan_cluster(project, files)
    if planned.plan is None or planned.prediction is None:
        return None
    return SeenCluster(loaded=planned.loaded, plan=planned.plan, prediction=planned.prediction)
