"""Use case: what a change does, compared with the revision that it is to be merged into.

Git is read without touching the work tree. Clusters that the change can't affect are not even loaded. Beside clusters,
it reports findings on what clusters share and on the repository itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_findings import finding_changes, self_grants
from poolsmith.change.diff.change_report import ChangeReport
from poolsmith.change.diff.profile_changes import renamed_clusters
from poolsmith.change.diff.sides import SidePair, as_judged, both_sides, present_in_git
from poolsmith.change.diff.touched_clusters import cluster_names, may_extend, touched_bases
from poolsmith.change.review.beside_output import HeadTree
from poolsmith.change.review.saved_plan import digests_of
from poolsmith.core.diagnostics import Diagnostic, UsageError, sorted_unique
from poolsmith.core.diagnostics.codes.change import JUDGE_CHANGE
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.record import record
from poolsmith.fleet.profiles.load_cluster import cluster_alone, load_cluster
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.guard.policies.policies import Policies
from poolsmith.guard.policies.revision import policy_changes
from poolsmith.guard.rules.committed_secrets import committed_secrets, policy_texts
from poolsmith.interface.app.repository_review import Reviewed, review_repository
from poolsmith.project.output.batches import in_batches, rarely_collecting
from poolsmith.project.output.comparison import MAX_REPORTED, foreign_diagnostics, hand_edit
from poolsmith.project.output.lock_file import LOCK
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.fleet_folder import orphan_finding, stray_findings
from poolsmith.project.run.generated_folder import against_disk, compared
from poolsmith.project.run.project import CLUSTERS, FLEET, OUTPUT
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.change.diff.sides import BothSides, Side
    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.interface.app.diff_pairs import PairResult


@record
class SharedFindings:
    """Of both sides, as the policies that judge want them; `judge_changes` are those on files that judge."""

    before: tuple[Diagnostic, ...]
    after: tuple[Diagnostic, ...]
    judge_changes: tuple[Diagnostic, ...]


def shared_findings(sides: BothSides, judging: JudgingOptions, pairs: Iterable[SidePair]) -> SharedFindings:
    """What a profile, a base or a policy file says wrong by itself, what stands in the output without a profile, and
    what the change does beside them. `pairs` are those that differ."""
    project = sides.after.project
    repository = list(review_repository(project, judging, sides.base, _reviewed(sides, tuple(pairs))))
    is_fleet_touched = any(path.startswith(f"{FLEET}/") for path in sides.touched.paths)
    files_after = _of_files(sides.after, is_fleet_touched=is_fleet_touched)
    found = [*files_after, *policy_changes(project.policies, project.judging_policies), *repository]
    earlier = list(_of_files(sides.before, is_fleet_touched=is_fleet_touched)) if sides.had_profiles else []
    return SharedFindings(
        before=as_judged(sides.before.project, earlier, judging.today),
        after=as_judged(project, found, judging.today),
        judge_changes=tuple(item for item in repository if item.code == JUDGE_CHANGE.code),
    )


def _reviewed(sides: BothSides, pairs: tuple[SidePair, ...]) -> Reviewed:
    """Profiles that do not differ say the same on both sides: they are read where that matters, and once."""
    head = None if sides.head is None else HeadTree(sides.head.files, frozenset(), is_checked_out=False)
    before, after = sides.before.project, sides.after.project
    changed = {pair.after.name for pair in pairs if pair.after is not None}
    same = [files for files in after.fleet.clusters if files.name not in changed]

    def known() -> Iterator[Cluster | None]:
        yield from (cluster_alone(before.tree, pair.before) for pair in pairs if pair.before is not None)
        yield from (cluster_alone(after.tree, files) for files in same)

    return Reviewed(
        clusters=tuple(pair.after for pair in pairs if pair.after is not None),
        unchanged=tuple(same),
        known_clusters=frozenset(cluster_names(sides.before.files)),
        known=known,
        head=head,
        repository=sides.repository,
    )


def _of_files(side: Side, *, is_fleet_touched: bool) -> Iterator[Diagnostic]:
    project = side.project
    yield from project.fleet.problems
    yield from project.bases.problems
    yield from project.driver_images[1]
    yield from project.policies.problems
    yield from committed_secrets(policy_texts(project.policies))
    yield from _leftovers(side)
    if is_fleet_touched:
        yield from _edits_of_fleet(side)


def _edits_of_fleet(side: Side) -> Iterator[Diagnostic]:
    """What somebody changed by hand of what spans clusters. Whether it is current, only a run over all can tell."""
    if side.repository is None:
        found = against_disk(side.project.root, FLEET, {}, FLEET)
    else:
        found = compared(FLEET, {}, present_in_git(side, FLEET, {}), FLEET)
    if isinstance(found, Diagnostic):
        yield found
        return
    yield from (hand_edit(found, path, FLEET) for path in found.hand_edited()[:MAX_REPORTED])
    yield from foreign_diagnostics(found, FLEET)


def _leftovers(side: Side) -> Iterator[Diagnostic]:
    """Folders of clusters that have no profile any more, and files that no lock owns."""
    described = cluster_names(side.files)
    described |= {problem.primary.span.path.rpartition("/")[2] for problem in side.project.fleet.problems}
    output = [path for path in side.files if path.startswith(f"{OUTPUT}/")]
    locked = {path.split("/")[2] for path in output if path.startswith(f"{CLUSTERS}/") and path.endswith(f"/{LOCK}")}
    yield from (orphan_finding(name) for name in sorted(locked - described))
    known = tuple(f"{CLUSTERS}/{name}/" for name in locked | described)
    yield from stray_findings(sorted(path for path in output if not path.startswith((f"{FLEET}/", *known))))


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


@record
class JudgedChange:
    """A change, and the digests of what was read for it, by folder."""

    report: ChangeReport
    digests: Mapping[str, str]


def diff(root: Path, options: DiffOptions, progress: Progress = silent) -> ChangeReport:
    """Raises UsageError, NoInputError."""
    return judged_change(root, options, progress).report


@with_facts
def judged_change(root: Path, options: DiffOptions, progress: Progress = silent) -> JudgedChange:
    """Raises UsageError, NoInputError."""
    with rarely_collecting(), both_sides(root, options.base, options.head, options.accepted) as sides:
        return JudgedChange(report=_report(sides, options, progress), digests=digests_of(sides.after.files))


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
    sides: BothSides, work: Sequence[SidePair], judging: JudgingOptions, jobs: int, progress: Progress
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


def _pairs(sides: BothSides) -> list[SidePair]:
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
        pairs.append(SidePair(before=older, after=files, is_touched=is_touched))
    pairs += [SidePair(before=then[name], after=None) for name in gone if name not in renamed.values()]
    return sorted(pairs, key=lambda pair: pair.name)


def _chosen(pairs: Sequence[SidePair], names: Sequence[str]) -> Iterator[SidePair]:
    known = {name for pair in pairs for name in pair.names}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, sorted(known))}")
    yield from (pair for pair in pairs if not names or not pair.names.isdisjoint(names))
