"""Folders of another revision of the repository, and how its policies differ from those of the checkout.

The files come from git's objects. Nothing is checked out and no hook or filter of the repository runs: blobs are
written into a folder of our own, which is then read under the same suspicion as any other.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from poolsmith.diagnostics import Diagnostic, UsageError, diagnose, whole_file
from poolsmith.diagnostics.codes.policy import CHANGED_POLICIES
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.printable import printable, shorten
from poolsmith.policies.base_revision import BaseRevision, GitFile
from poolsmith.policies.files import POLICIES
from poolsmith.profiles.fleet import PROFILES
from poolsmith.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from poolsmith.policies.policies import Policies

_REGULAR = frozenset((b"100644", b"100755"))
_MAX_FILES = 10_000
_MAX_BYTES = 64 << 20
_SECONDS = 60
_LONGEST = 300
_SETTINGS = ("core.fsmonitor=false", "core.warnAmbiguousRefs=true", "safe.bareRepository=explicit")
"""The last: files of a pull request that look like a repository are none."""
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
"""Objects that are not there are not fetched: that would run what the repository's settings name."""
_NO_REVISION = b"Needed a single revision"
_AMBIGUOUS = b"is ambiguous"


@contextmanager
def base_at(root: Path, revision: str, flag: str = "--policies-from") -> Iterator[BaseRevision]:
    """The base that a change is judged against. Raises UsageError as `folder_at`."""
    git = _Git(root, flag)
    commit = git.commit(revision)
    prefix = os.fsdecode(git.run("rev-parse", "--show-prefix").stdout).rstrip("\n")
    files = _tree(git.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout)
    with _folders_of(git, commit, (PROFILES, POLICIES)) as folder:
        yield BaseRevision(folder=folder, prefix=prefix, files=files)


def folder_at(root: Path, revision: str, name: str, flag: str) -> AbstractContextManager[Path]:
    """A folder with the folder `name` that `root` has at `revision`; without any when it has none there.

    Raises UsageError when there is no git, no repository or no such revision, or the folder holds what can't be taken;
    the message begins with the flag that asked for it.
    """
    git = _Git(root, flag)
    return _folders_of(git, git.commit(revision), (name,))


@contextmanager
def _folders_of(git: _Git, commit: str, names: Iterable[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as folder:
        for name in names:
            listing = git.run("ls-tree", "-r", "-z", "-l", commit, "--", f"{name}/").stdout
            files = _regular_files(listing, name, git.flag)
            for (path, _), content in zip(files, git.contents([blob for _, blob in files]), strict=True):
                target = Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        yield Path(folder)


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
        total += int(size)
        files.append((path, blob.decode()))
    if len(files) > _MAX_FILES or total > _MAX_BYTES:
        raise UsageError(f"{flag}: `{name}/` has {len(files):,} files of {total:,} bytes in that revision")
    return files


@record(kw_only=False)
class _Git:
    """The repository of a folder, asked for a flag."""

    root: Path
    flag: str

    def commit(self, revision: str) -> str:
        """The id of the commit. A name that a tag and a branch have is none: whoever may push tags would choose."""
        found = self.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", may_fail=True)
        shown = printable(shorten(revision))
        if found.returncode != 0:
            if _NO_REVISION in found.stderr:
                raise UsageError(f"{self.flag}: the repository has no revision `{shown}`")
            self._refuse(found)
        if _AMBIGUOUS in found.stderr:
            raise UsageError(
                f"{self.flag}: `{shown}` names several revisions; write refs/remotes/... or the commit's id"
            )
        return found.stdout.decode().strip()

    def contents(self, blobs: list[str]) -> Iterator[bytes]:
        """Of each blob, all from one process."""
        if not blobs:
            return
        stream = self.run("cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode()).stdout
        at = 0
        for blob in blobs:
            end = stream.find(b"\n", at)
            header = stream[at:end].decode("ascii", "replace").split()
            if end < 0 or header[:2] != [blob, "blob"]:
                raise UsageError(f"{self.flag}: the repository lacks an object of that revision")
            size = int(header[2])
            yield stream[end + 1 : end + 1 + size]
            at = end + size + 2

    def run(self, *arguments: str, may_fail: bool = False, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        settings = (part for setting in _SETTINGS for part in ("-c", setting))
        command = ("git", "-C", str(self.root), *settings, *arguments)
        environment = {**os.environ, **_ENVIRONMENT}
        try:
            run = subprocess.run(
                command, input=given, env=environment, capture_output=True, timeout=_SECONDS, check=False
            )
        except FileNotFoundError:
            raise UsageError(f"{self.flag} needs git, and there is none on PATH") from None
        except subprocess.TimeoutExpired:
            raise UsageError(f"{self.flag}: git does not answer") from None
        if run.returncode != 0 and not may_fail:
            self._refuse(run)
        return run

    def _refuse(self, run: subprocess.CompletedProcess[bytes]) -> NoReturn:
        said = run.stderr.decode("utf-8", "replace").strip()
        if said:
            raise UsageError(f"{self.flag}: git says: {printable(_problem(said))[:_LONGEST]}")
        raise UsageError(f"{self.flag}: git ended with {run.returncode}")


def _problem(said: str) -> str:
    """The line that says what is wrong; advice stands before or after it."""
    lines = said.splitlines()
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])


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
