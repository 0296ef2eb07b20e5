"""Folders of another revision of the repository, and how its policies differ from those of the checkout.

The files come from git's objects. Nothing is checked out and no hook or filter of the repository runs: blobs are
written into a folder of our own, which is then read under the same suspicion as any other.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from poolsmith.diagnostics import Diagnostic, UsageError, diagnose, whole_file
from poolsmith.diagnostics.codes.policy import CHANGED_POLICIES
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.printable import printable, shorten
from poolsmith.policies.base_revision import BaseRevision, GitFile
from poolsmith.policies.files import POLICIES
from poolsmith.profiles.fleet import PROFILES
from poolsmith.sources.git import Git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from poolsmith.policies.policies import Policies

_REGULAR = frozenset((b"100644", b"100755"))
_MAX_FILES = 100_000
_MAX_BYTES = 256 << 20


@contextmanager
def base_at(root: Path, revision: str, flag: str = "--policies-from", *, named: str = "") -> Iterator[BaseRevision]:
    """The base that a change is judged against. Raises UsageError as `folder_at`.

    Beside profiles and policies the folder holds all files that are `named` so, wherever in the output.
    """
    git = Git(root, flag)
    commit = git.commit(revision)
    prefix = os.fsdecode(git.run("rev-parse", "--show-prefix").stdout).rstrip("\n")
    files = _tree(git.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout)
    with _folders_of(git, commit, (PROFILES, POLICIES)) as folder:
        if named:
            ours = {
                path.removeprefix(prefix): file for path, file in files.items() if path.startswith(f"{prefix}output/")
            }
            _write(git, folder, {path: file.blob for path, file in ours.items() if path.endswith(f"/{named}")})
        yield BaseRevision(folder=folder, prefix=prefix, files=files)


def folder_at(root: Path, revision: str, name: str, flag: str) -> AbstractContextManager[Path]:
    """A folder with the folder `name` that `root` has at `revision`; without any when it has none there.

    Raises UsageError when there is no git, no repository or no such revision, or the folder holds what can't be taken;
    the message begins with the flag that asked for it.
    """
    git = Git(root, flag)
    return _folders_of(git, git.commit(revision), (name,))


@contextmanager
def _folders_of(git: Git, commit: str, names: Iterable[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as folder:
        for name in names:
            listing = git.run("ls-tree", "-r", "-z", "-l", commit, "--", f"{name}/").stdout
            _write(git, Path(folder), dict(_regular_files(listing, name, git.flag)))
        yield Path(folder)


def _write(git: Git, folder: Path, blobs: Mapping[str, str]) -> None:
    """Contents by path; each is in the folder afterwards."""
    made: set[str] = set()
    for path, content in zip(blobs, git.contents(list(blobs.values())), strict=True):
        above = path.rpartition("/")[0]
        if above not in made:
            (folder / above).mkdir(parents=True, exist_ok=True)
            made.add(above)
        (folder / path).write_bytes(content)


def _tree(listing: bytes) -> dict[str, GitFile]:
    files = {}
    for entry in filter(None, listing.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, _, blob = about.decode("ascii").split()
        files[os.fsdecode(path)] = GitFile(mode, blob)
    return files


def _regular_files(listing: bytes, name: str, flag: str) -> list[tuple[str, str]]:
    files = []
    total = 0
    for entry in filter(None, listing.split(b"\0")):
        about, _, raw = entry.partition(b"\t")
        mode, _, blob, size = about.split()
        path = os.fsdecode(raw)
        if mode not in _REGULAR or ".." in PurePosixPath(path).parts or path.startswith("/"):
            raise UsageError(f"{flag}: `{printable(path)}` is not a regular file in that revision")
        if not size.isdigit():  # git says BAD where the object is missing
            raise UsageError(f"{flag}: the repository lacks `{printable(path)}` of that revision")
        total += int(size)
        files.append((path, blob.decode()))
    if len(files) > _MAX_FILES or total > _MAX_BYTES:
        raise UsageError(f"{flag}: `{name}/` has {len(files):,} files of {total:,} bytes in that revision")
    return files


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
