"""What git's index remembers of files that are checked out: their blobs, and the state in which it saw them.

A file in that state has not been written since, so that nobody need read it. As in git itself, one that was written
while or after the index was (a racy entry) is not to be trusted, nor is one whose time of change (ctime) differs.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.core.sources.git import Git

_ENTRY = re.compile(
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
