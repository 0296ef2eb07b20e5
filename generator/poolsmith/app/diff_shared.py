"""Findings of both sides of a change on what clusters share, and on the repository itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.app.diff_side import as_judged
from poolsmith.app.fleet_folder import orphan_finding, stray_findings
from poolsmith.app.fleet_judgement import policy_texts
from poolsmith.app.project import CLUSTERS, FLEET, OUTPUT
from poolsmith.app.repository_review import Reviewed, review_repository
from poolsmith.diagnostics.codes.change import JUDGE_CHANGE
from poolsmith.output.lock_file import LOCK
from poolsmith.policies.revision import policy_changes
from poolsmith.record import record
from poolsmith.review.head_tree import HeadTree
from poolsmith.rules.committed_secrets import committed_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.app.diff_side import Side
    from poolsmith.app.project import Project
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.policies.apply import JudgingOptions
    from poolsmith.policies.base_revision import BaseRevision
    from poolsmith.profiles.fleet import ClusterFiles


@record
class SharedFindings:
    """Of both sides, as the policies that judge want them; `judge_changes` are those on files that judge."""

    before: tuple[Diagnostic, ...]
    after: tuple[Diagnostic, ...]
    judge_changes: tuple[Diagnostic, ...]


@record
class ChangedRepository:
    """`touched` are the clusters that the change can do something to; `head` is None where it is checked out."""

    root: Path
    base: BaseRevision
    head: BaseRevision | None
    touched: tuple[ClusterFiles, ...]
    before: Project | None


def shared_findings(before: Side, after: Side, judging: JudgingOptions, change: ChangedRepository) -> SharedFindings:
    """What a profile, a base or a policy file says wrong by itself, what stands in the output without a profile, and
    what the change does beside them."""
    project = after.project
    head = None if change.head is None else HeadTree(change.head.files, frozenset(), is_checked_out=False)
    reviewed = Reviewed(clusters=change.touched, head=head, repository=change.root)
    repository = list(review_repository(project, judging, change.base, change.before, reviewed=reviewed))
    found = [*_of_files(after), *policy_changes(project.policies, project.judging_policies), *repository]
    earlier = list(_of_files(before)) if change.before is not None else []
    return SharedFindings(
        before=as_judged(before.project, earlier, judging.today),
        after=as_judged(project, found, judging.today),
        judge_changes=tuple(item for item in repository if item.code == JUDGE_CHANGE.code),
    )


def _of_files(side: Side) -> Iterator[Diagnostic]:
    project = side.project
    yield from project.fleet.problems
    yield from project.bases.problems
    yield from project.driver_images[1]
    yield from project.policies.problems
    yield from committed_secrets(policy_texts(project.policies))
    yield from _leftovers(side)


def _leftovers(side: Side) -> Iterator[Diagnostic]:
    """Folders of clusters that have no profile any more, and files that no lock owns."""
    described = {files.name for files in side.project.fleet.clusters}
    described |= {problem.primary.span.path.rpartition("/")[2] for problem in side.project.fleet.problems}
    output = [path for path in side.files if path.startswith(f"{OUTPUT}/")]
    locked = {path.split("/")[2] for path in output if path.startswith(f"{CLUSTERS}/") and path.endswith(f"/{LOCK}")}
    yield from (orphan_finding(name) for name in sorted(locked - described))
    known = tuple(f"{CLUSTERS}/{name}/" for name in locked | described)
    yield from stray_findings(sorted(path for path in output if not path.startswith((f"{FLEET}/", *known))))
