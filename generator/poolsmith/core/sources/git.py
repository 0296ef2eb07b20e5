"""git, asked about the repository of a folder: objects, lists and the index. No hook or filter of the repository runs.

A file in the state that the index remembers has not been written since, so nobody needs to read it. As in git itself, a
file that was written while or after the index was (a racy entry) is not trusted, nor is one whose time of change
(ctime) differs.
"""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING, NoReturn

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import printable, shorten
from poolsmith.core.pattern import bytes_pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


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
_NO_REPOSITORY = "not a git repository"
_SHALLOW = ": the clone is shallow. Fetch its history (`git fetch --unshallow`; `fetch-depth: 0` of actions/checkout)"


@record(kw_only=False)
class Git:
    """The repository of a folder, asked for a flag."""

    root: Path
    flag: str

    def commit(self, revision: str) -> str:
        """The id of the commit. A name that a tag and a branch have is none: whoever may push tags would choose."""
        found = self.run("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}", may_fail=True)
        shown = printable(shorten(revision))
        if found.returncode != 0:
            if _NO_REVISION in found.stderr:
                raise UsageError(f"{self.flag}: the repository has no revision `{shown}`{self.cut_off}")
            self._refuse(found)
        if _AMBIGUOUS in found.stderr:
            raise UsageError(
                f"{self.flag}: `{shown}` names several revisions; write refs/remotes/... or the commit's id"
            )
        return found.stdout.decode().strip()

    @property
    def cut_off(self) -> str:
        """How to get the history that a shallow clone lacks, to be put behind a sentence; empty where all is there."""
        answer = self.run("rev-parse", "--is-shallow-repository", may_fail=True).stdout.strip()
        return _SHALLOW if answer == b"true" else ""

    def sizes(self, blobs: list[str]) -> list[int | None]:
        """Bytes of each blob; None of what the repository lacks."""
        if not blobs:
            return []
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        answers = self.run("cat-file", "--batch-check", given=asked).stdout.decode("ascii", "replace").splitlines()
        sizes = (answer.rpartition(" ")[2] for answer in answers)
        return [int(size) if size.isdecimal() else None for size in sizes]

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
        if _NO_REPOSITORY in said:
            raise UsageError(
                f"{self.flag} needs a git repository, and {printable(str(self.root.absolute()))} is in none: "
                "`git init` makes one"
            )
        if said:
            raise UsageError(f"{self.flag}: git says: {printable(_problem(said))[:_LONGEST]}")
        raise UsageError(f"{self.flag}: git ended with {run.returncode}")


def _problem(said: str) -> str:
    """The line that says what is wrong; advice stands before or after it."""
    lines = said.splitlines()
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])


_ENTRY = bytes_pattern(
    rb"(?P<mode>100[0-7]{3}) (?P<blob>[0-9a-f]+) 0\t(?P<path>[^\0]+)\0\s+ctime: (?P<cs>\d+):(?P<cn>\d+)"
    rb"\s+mtime: (?P<ms>\d+):(?P<mn>\d+)\s+dev: \d+\s+ino: (?P<ino>\d+)\s+uid: \d+\s+gid: \d+\s+size: (?P<size>\d+)"
    rb"\s+flags: (?P<flags>[0-9a-f]+)\n"
)
_32_BITS = 0xFFFFFFFF
_SECOND = 1_000_000_000


@record(kw_only=False)
class IndexEntry:
    """Mode and blob of a file, and the state that it had: mtime and ctime in nanoseconds, inode, size."""

    mode: str
    blob: str
    state: tuple[int, int, int, int]

    def is_as(self, found: os.stat_result) -> bool:
        """Whether a file is in that state still; git keeps 32 bits of inode and size."""
        now = found.st_mtime_ns, found.st_ctime_ns, found.st_ino & _32_BITS, found.st_size & _32_BITS
        return stat.S_ISREG(found.st_mode) and now == self.state


def settled_entries(git: Git, folders: Iterable[str]) -> Mapping[str, IndexEntry]:
    """By path from the root that git is asked about; only those whose state says all. None where git tells no state."""
    index = git.root / os.fsdecode(git.run("rev-parse", "--git-path", "index").stdout).rstrip("\n")
    try:
        written = index.stat().st_mtime_ns
    except OSError:
        return {}
    listing = git.run("ls-files", "--debug", "-s", "-z", "--", *folders, may_fail=True).stdout
    found = {}
    for entry in _ENTRY.finditer(listing):
        mtime = int(entry["ms"]) * _SECOND + int(entry["mn"])
        if mtime < written:
            ctime = int(entry["cs"]) * _SECOND + int(entry["cn"])
            state = mtime, ctime, int(entry["ino"]), int(entry["size"])
            found[os.fsdecode(entry["path"])] = IndexEntry(entry["mode"].decode(), entry["blob"].decode(), state)
    return found


SHA1 = 40
"""Digits of an id, where a repository does not say that it has longer ones."""


def blob_id(content: bytes, length: int = SHA1) -> str:
    """What git calls a content, in a repository whose ids have so many digits."""
    from hashlib import new  # on demand: it loads OpenSSL

    digest = new("sha1" if length == SHA1 else "sha256", b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def is_blob(content: bytes, blob: str) -> bool:
    """Whether a file that is checked out with this content has that blob, but for ends of lines."""
    return blob in (blob_id(content, len(blob)), blob_id(content.replace(b"\r\n", b"\n"), len(blob)))
