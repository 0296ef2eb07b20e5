"""Both sides of a change, opened: what is checked out or a revision, and the revision that it is compared with.

Of the base only those files are taken out of git that the change can make a difference to.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Revision
from poolsmith.change.diff.default_base import default_base
from poolsmith.change.diff.folder_ids import on_disk
from poolsmith.change.diff.touched_clusters import Touched, cluster_names, of_clusters, touched
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.git_index import settled_entries
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.policies.apply import POLICY_WIDENING
from poolsmith.guard.policies.base_revision import BaseRevision
from poolsmith.guard.policies.files import POLICIES
from poolsmith.guard.policies.revision import RevisionTree, folder_with, tree_at
from poolsmith.interface.app.diff_side import Side
from poolsmith.project.output.lock_file import LOCK
from poolsmith.project.run.facts import facts_of
from poolsmith.project.run.project import OUTPUT, Project, open_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from poolsmith.guard.policies.base_revision import GitFile

BASE, HEAD = "--base", "--head"
_OWN = (PROFILES, POLICIES, OUTPUT)


@record
class BothSides:
    """`head` is None for what is checked out. Not all clusters of the base need be in its project: `touched` says which
    can differ."""

    repository: Path
    before: Side
    after: Side
    revisions: tuple[Revision, Revision]
    base: BaseRevision
    head: RevisionTree | None
    touched: Touched

    @property
    def had_profiles(self) -> bool:
        return any(path.startswith(f"{PROFILES}/") for path in self.before.files)


@contextmanager
def both_sides(root: Path, base: str | None, head: str | None, accepted: frozenset[str]) -> Iterator[BothSides]:
    """Raises UsageError, NoInputError."""
    if not head:
        open_project(root)  # says what is wrong with the root before git is asked
    git = Git(root, BASE)
    with ExitStack() as stack:
        newer = Revision(name=head, commit=Git(root, HEAD).commit(head)) if head else Revision(name="the work tree")
        older = Revision(name=base, commit=git.commit(base)) if base else default_base(git, newer.commit or "HEAD")
        then = tree_at(git, older.commit)
        now = tree_at(Git(root, HEAD), newer.commit) if newer.commit else None
        was = then.below(*_OWN)
        files = now.below(*_OWN) if now is not None else on_disk(root, _OWN, was, settled_entries(git, _OWN))
        found = touched(was, files)
        folder = stack.enter_context(folder_with(git, _needed(was, files, found)))
        if cluster_names(was):
            (folder / PROFILES).mkdir(exist_ok=True)  # as it is in the base, also where no cluster of it can differ
        before = Side(project=Project(folder), files=was, repository=root, flag=BASE)
        place = root if now is None else stack.enter_context(folder_with(Git(root, HEAD), _whole(files)))
        project = open_project(place, folder, first_supply=POLICY_WIDENING in accepted)
        stack.enter_context(facts_of(place))  # for both sides, as is the rest of the catalog
        after = Side(project=project, files=files, repository=None if now is None else root, flag=HEAD)
        project.beside(before.project)
        yield BothSides(
            repository=root,
            before=before,
            after=after,
            revisions=(older, newer),
            base=BaseRevision(folder=folder, prefix=then.prefix, files=then.files),
            head=now,
            touched=found,
        )


def _needed(was: Mapping[str, GitFile], files: Mapping[str, GitFile], found: Touched) -> dict[str, GitFile]:
    """Of the base: what clusters share, and the clusters that can differ. A new one is held against all of them."""
    names = cluster_names(was)
    if not found.why_all and not found.bases and cluster_names(files) <= names:
        names &= found.by_folder
    unneeded = cluster_names(was) - names
    return {
        path: file
        for path, file in was.items()
        if not path.startswith(f"{OUTPUT}/") and of_clusters(path) not in unneeded
    }


def _whole(files: Mapping[str, GitFile]) -> dict[str, GitFile]:
    """Of a revision that is judged: all but the output, of which the locks say what is ours."""
    return {
        path: file for path, file in files.items() if not path.startswith(f"{OUTPUT}/") or path.endswith(f"/{LOCK}")
    }
