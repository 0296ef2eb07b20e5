"""Both sides of a change: what is checked out or a revision, and the revision that it is compared with.

Without a named base, that is the commit where the change left the default branch of the remote. Of the base, only the
files that can make a difference are taken out of git.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from poolsmith.change.delivery.objects import held_in_git, held_on_disk
from poolsmith.change.diff.change_report import Revision
from poolsmith.change.diff.touched_clusters import Touched, cluster_names, of_clusters, on_disk, touched
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import printable, shorten
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git, blob_id, settled_entries
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.policies.applied_policies import POLICY_WIDENING, with_policies
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.guard.policies.revision import LINK, SUBMODULE, BaseRevision, RevisionTree, folder_with, tree_at
from poolsmith.project.output.lock_file import LOCK
from poolsmith.project.run.facts import facts_of
from poolsmith.project.run.project import OUTPUT, Project, open_project

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.change.delivery.objects import DeliveryObject, Identity, MadeDelivery
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.policies.revision import GitFile


_NO_FILE = (LINK, SUBMODULE)


@record
class Side:
    """`files` are the ids of the project's own files, by path from its root.

    Of a revision the output is read from the `repository`; None where it stands on disk.
    """

    project: Project
    files: Mapping[str, GitFile]
    repository: Path | None = None
    flag: str = "--base"


@record
class SidePair:
    """A cluster before and after the change; None where it is not there. Files may have two names."""

    before: ClusterFiles | None
    after: ClusterFiles | None
    is_touched: bool = True

    @property
    def name(self) -> str:
        files = self.after or self.before
        return files.name if files is not None else ""

    @property
    def names(self) -> set[str]:
        return {files.name for files in (self.before, self.after) if files is not None}


def as_judged(project: Project, found: Iterable[Diagnostic], today: dt.date) -> tuple[Diagnostic, ...]:
    """Findings with rule settings and waivers applied. What nobody needs any more, a part of a fleet can't tell."""
    outcome = Outcome(diagnostics=tuple(found))
    return with_policies(outcome, project.judging_policies, today=today, complete=False).diagnostics


def present_in_git(side: Side, folder: str, generated: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """What a revision has in a folder. Only what is not as generated is read."""
    start = f"{folder}/"
    there = {path.removeprefix(start): file for path, file in side.files.items() if path.startswith(start)}
    present: dict[str, bytes | None] = {}
    unread: dict[str, str] = {}
    for path, file in there.items():
        content = generated.get(path)
        if file.mode in _NO_FILE:
            present[path] = None
        elif content is not None and blob_id(content, len(file.blob)) == file.blob:
            present[path] = content
        else:
            unread[path] = file.blob
    if unread and side.repository is not None:
        contents = Git(side.repository, side.flag).contents(list(unread.values()))
        present |= dict(zip(unread, contents, strict=True))
    return present


_GUESSES = ("refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")


def default_base(git: Git, head: str = "HEAD") -> Revision:
    """The merge base of `head` with the remote's default branch. Raises UsageError that says what to do."""
    git.run("rev-parse", "--git-dir")  # outside of a repository git says so
    tip = _resolved(git, head)
    if tip is None:
        raise UsageError(f"{git.flag}: there is no commit yet to compare with; commit the base first")
    branch = next(_default_branches(git), None)
    if branch is None:
        raise UsageError(
            "there is neither a default branch of a remote nor a branch `main` or `master` to compare with"
            f"{git.cut_off}; name the base, such as `{git.flag} origin/main`"
        )
    found = git.run("merge-base", "--", branch, tip, may_fail=True).stdout.decode().strip()
    if not found:
        raise UsageError(
            f"`{shown(branch)}` and `{printable(shorten(head))}` have no commit in common here{git.cut_off}; "
            f"name the base with {git.flag}"
        )
    return Revision(name=shown(branch), commit=found.splitlines()[0])


def shown(branch: str) -> str:
    for prefix in ("refs/remotes/", "refs/heads/"):
        branch = branch.removeprefix(prefix)
    return printable(shorten(branch))


def _default_branches(git: Git) -> Iterator[str]:
    """Branches that exist, most likely first: what the remotes call their HEAD, `origin` before the others."""
    heads = git.run("for-each-ref", "--format=%(refname)%00%(symref)", "refs/remotes/*/HEAD", may_fail=True).stdout
    known = sorted(line.split("\0") for line in os.fsdecode(heads).splitlines() if "\0" in line)
    known.sort(key=lambda item: item[0] != "refs/remotes/origin/HEAD")
    for branch in (*(symref for _, symref in known if symref), *_GUESSES):
        if _resolved(git, branch) is not None:
            yield branch


def _resolved(git: Git, revision: str) -> str | None:
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", may_fail=True)
    return found.stdout.decode().strip() or None if found.returncode == 0 else None


BASE, HEAD = "--base", "--head"
OWN = (PROFILES, POLICIES, OUTPUT)


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
        was = then.below(*OWN)
        files = now.below(*OWN) if now is not None else on_disk(root, OWN, was, settled_entries(git, OWN))
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


def held_by_side(side: Side, cluster: str, made: MadeDelivery) -> Mapping[Identity, DeliveryObject] | None:
    """Of one side of a change; None where it has no such folder. Raises UsageError."""
    if side.repository is None:
        return held_on_disk(side.project.output_root, cluster, made)
    return held_in_git(Git(side.repository, side.flag), side.files, cluster, made)
