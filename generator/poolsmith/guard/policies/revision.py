"""Another revision of the repository, read from git's objects, and how its policies differ from those of the checkout.

A change is judged against such a revision: the base of a pull request. Nothing is checked out and no hook or filter of
the repository runs: blobs are written into a folder of our own, which is then read as untrusted input like any other.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, UsageError, diagnose, whole_file
from poolsmith.core.diagnostics.codes.policy import CHANGED_POLICIES
from poolsmith.core.diagnostics.message_text import listed, printable, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.policies.policy_files import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.guard.policies.policies import Policies


LINK = "120000"
SUBMODULE = "160000"


@record(kw_only=False)
class GitFile:
    """An entry of a revision's tree: git's mode (six octal digits) and the id of its content."""

    mode: str
    blob: str


@record
class BaseRevision:
    """`folder` holds `profiles/` and `policies/` as the base has them.

    `commit` is its id. `files` are all files of the base, by path from the top of the repository. `prefix` leads from
    that top to the project's root: empty, or with a slash at its end.
    """

    folder: Path
    prefix: str
    files: Mapping[str, GitFile]
    commit: str = ""


@record
class MergedTree:
    """What a change would merge, where that is no work tree: all files of a commit or of the index, by path from the
    top of the repository. `repository` is the folder that git is asked about, `subject` is `commit` or `index`."""

    repository: Path
    files: Mapping[str, GitFile]
    subject: str


_REGULAR = frozenset(("100644", "100755"))
_MAX_FILES = 1_000_000
_MAX_BYTES = 1 << 30


@record(kw_only=False)
class RevisionTree:
    """A commit. `files` are all of its files, by path from the top of the repository; `prefix` leads from there to the
    folder that git was asked about: empty, or with a slash at its end."""

    commit: str
    prefix: str
    files: Mapping[str, GitFile]

    def below(self, *folders: str) -> dict[str, GitFile]:
        """The files of some folders, by path from the folder that git was asked about."""
        starts = tuple(f"{self.prefix}{folder}/" for folder in folders)
        return {path.removeprefix(self.prefix): file for path, file in self.files.items() if path.startswith(starts)}


@contextmanager
def base_at(root: Path, revision: str, flag: str = "--policies-from") -> Iterator[BaseRevision]:
    """The base that a change is judged against. Raises UsageError as `folder_at`."""
    git = Git(root, flag)
    tree = tree_at(git, git.commit(revision))
    with folder_with(git, tree.below(PROFILES, POLICIES)) as folder:
        yield BaseRevision(folder=folder, prefix=tree.prefix, files=tree.files, commit=tree.commit)


@contextmanager
def folder_at(root: Path, revision: str, name: str, flag: str) -> Iterator[Path]:
    """A folder with the folder `name` that `root` has at `revision`; without any when it has none there.

    Raises UsageError when there is no git, no repository or no such revision, or the folder holds what can't be taken;
    the message begins with the flag that asked for it.
    """
    git = Git(root, flag)
    with folder_with(git, tree_at(git, git.commit(revision)).below(name)) as folder:
        yield folder


def staged_entries(git: Git) -> Iterator[tuple[str, GitFile, str]]:
    """Path from the top of the repository, file and stage of all that git's index has. Raises UsageError."""
    for entry in filter(None, git.run("ls-files", "-s", "-z", "--full-name", "--", ":/").stdout.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, blob, stage = about.decode("ascii").split()
        yield os.fsdecode(path), GitFile(mode, blob), stage


def prefix_of(git: Git) -> str:
    """What leads from the top of the repository to the folder that git is asked about: empty, or with a slash at its
    end."""
    return os.fsdecode(git.run("rev-parse", "--show-prefix").stdout).rstrip("\n")


def tree_at(git: Git, commit: str) -> RevisionTree:
    """All files of a commit. Raises UsageError."""
    files = {}
    for entry in filter(None, git.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, _, blob = about.decode("ascii").split()
        files[os.fsdecode(path)] = GitFile(mode, blob)
    return RevisionTree(commit, prefix_of(git), files)


@contextmanager
def folder_with(git: Git, files: Mapping[str, GitFile]) -> Iterator[Path]:
    """A folder of our own that holds these files. Raises UsageError for what is no regular file, or is too much."""
    _refuse_odd(git, files)
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as name:
        folder = Path(name)
        made: set[str] = set()
        for path, content in zip(files, git.contents([file.blob for file in files.values()]), strict=True):
            above = path.rpartition("/")[0]
            if above not in made:
                (folder / above).mkdir(parents=True, exist_ok=True)
                made.add(above)
            (folder / path).write_bytes(content)
        yield folder


def _refuse_odd(git: Git, files: Mapping[str, GitFile]) -> None:
    for path, file in files.items():
        if file.mode not in _REGULAR:
            raise UsageError(f"{git.flag}: `{printable(path)}` is not a regular file in that revision")
    refuse_too_much(git, files)


def refuse_too_much(git: Git, files: Mapping[str, GitFile]) -> None:
    """Raises UsageError for names that lead out of a folder, and for more than can be judged."""
    for path in files:
        if path.startswith("/") or {"..", ".", ".git"} & {part.casefold() for part in PurePosixPath(path).parts}:
            raise UsageError(f"{git.flag}: `{printable(path)}` is no path that can be checked out")
    total = 0
    for path, size in zip(files, git.sizes([file.blob for file in files.values()]), strict=True):
        if size is None:
            raise UsageError(f"{git.flag}: the repository lacks `{printable(path)}` of that revision")
        total += size
    if len(files) > _MAX_FILES or total > _MAX_BYTES:
        shown = printable(next(iter(files)).partition("/")[0])
        raise UsageError(f"{git.flag}: `{shown}/` has {len(files):,} files of {total:,} bytes in that revision")


_FEW = 8


def policy_changes(own: Policies, judging: Policies) -> tuple[Diagnostic, ...]:
    """One finding on all files that are new, changed or gone; none where nothing is."""
    ours, theirs = set(own.files.paths), set(judging.files.paths)
    changed = (path for path in ours & theirs if own.tree.read_text(path) != judging.tree.read_text(path))
    parts = {"new": ours - theirs, "changed": set(changed), "gone": theirs - ours}
    said = [f"{word}: {listed(map(_short, sorted(paths)), _FEW)}" for word, paths in parts.items() if paths]
    if not said:
        return ()
    message = f"`{POLICIES}/` differs from the revision whose policies judge; {'; '.join(said)}"
    return (diagnose(CHANGED_POLICIES, message, whole_file(POLICIES)),)


def _short(path: str) -> str:
    return shorten(path.removeprefix(f"{POLICIES}/"))
