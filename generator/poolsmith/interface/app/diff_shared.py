"""Findings of both sides of a change on what clusters share, and on the repository itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.touched_clusters import cluster_names
from poolsmith.change.review.head_tree import HeadTree
from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.diagnostics.codes.change import JUDGE_CHANGE
from poolsmith.core.record import record
from poolsmith.fleet.profiles.load_cluster import cluster_alone
from poolsmith.guard.policies.revision import policy_changes
from poolsmith.guard.rules.committed_secrets import committed_secrets
from poolsmith.interface.app.diff_side import as_judged, present_in_git
from poolsmith.interface.app.fleet_folder import orphan_finding, stray_findings
from poolsmith.interface.app.fleet_judgement import policy_texts
from poolsmith.interface.app.folder import against_disk, compared
from poolsmith.interface.app.repository_review import Reviewed, review_repository
from poolsmith.project.output.comparison import MAX_REPORTED, foreign_diagnostics, hand_edit
from poolsmith.project.output.lock_file import LOCK
from poolsmith.project.run.project import CLUSTERS, FLEET, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.guard.policies.apply import JudgingOptions
    from poolsmith.interface.app.diff_side import Pair, Side
    from poolsmith.interface.app.diff_sides import BothSides


@record
class SharedFindings:
    """Of both sides, as the policies that judge want them; `judge_changes` are those on files that judge."""

    before: tuple[Diagnostic, ...]
    after: tuple[Diagnostic, ...]
    judge_changes: tuple[Diagnostic, ...]


def shared_findings(sides: BothSides, judging: JudgingOptions, pairs: Iterable[Pair]) -> SharedFindings:
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


def _reviewed(sides: BothSides, pairs: tuple[Pair, ...]) -> Reviewed:
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
