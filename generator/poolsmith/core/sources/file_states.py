"""Whether folders are as they were, by what the file system says of each file, without reading any.

A file whose size, inode, mode and both times are the same has the same content: the time of change (ctime) can't be
set by programs. The exception is a file that was changed again within one tick of the clock that stamps it: a folder
with a file that is younger than `MARGIN` at the time of looking is not to be remembered by its stamp (git's rule for
racy entries). The times of a folder tell whether a name came or went, so that a folder which was listed once is not
listed again.
"""

from __future__ import annotations

import marshal
import os
import stat
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_READ = 64 << 20
"""Bytes: what is larger is read by nobody, and told apart by its size."""
_CHUNK = 1 << 20
_PLAIN = 2
"""The form of marshal whose bytes follow from the values alone."""
MARGIN = 2_000_000_000
"""Nanoseconds: the coarsest clock that file systems stamp with, those of FAT, ticks every two seconds."""


@record(kw_only=False)
class FolderState:
    """`entries` are lines of path and state, sorted; `youngest` is the latest time of any file, in nanoseconds.

    `is_plain` is False where links or special files stand in it: what these lead to is not looked at.
    """

    entries: tuple[str, ...] = ()
    youngest: int = 0
    is_plain: bool = True

    @property
    def stamp(self) -> str:
        return _hashed(self.entries)

    def is_settled(self, now: int) -> bool:
        """Whether nothing can change any more that the stamp would not tell; `now` in nanoseconds since the epoch."""
        return self.youngest + MARGIN < now


def folder_state(
    folder: str, *, leave_out: frozenset[str] = frozenset(), ignored: frozenset[str] = frozenset()
) -> FolderState:
    """The state of all below a folder; of no folder, that it is not there.

    `leave_out` are names at its top, `ignored` names of folders anywhere. What can't be looked at has no state but why.

    Raises OSError where the folder itself can't be looked at.
    """
    entries: list[str] = []
    youngest, is_plain = 0, True
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            scan = os.scandir(f"{folder}/{below}" if below else folder)
        except OSError as error:
            if not below:
                if not isinstance(error, FileNotFoundError | NotADirectoryError):
                    raise
                return FolderState((_alone(folder),))
            entries.append(f"{below}/\0! {error.errno}")
            is_plain = False
            continue
        with scan:
            for entry in scan:
                path = f"{below}/{entry.name}" if below else entry.name
                if path in leave_out:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in ignored:
                        entries.append(f"{path}/")
                        pending.append(path)
                    continue
                state = entry.stat(follow_symlinks=False)
                entries.append(_line(path, state))
                if youngest < state.st_ctime_ns or youngest < state.st_mtime_ns:
                    youngest = max(state.st_mtime_ns, state.st_ctime_ns)
                if not stat.S_ISREG(state.st_mode):
                    is_plain = False
    entries.sort()
    return FolderState(tuple(entries), youngest, is_plain)


@record(kw_only=False)
class Sight:
    """What the file system says of a folder and of all that was found in it; `youngest` as of a FolderState, with the
    times of folders."""

    digest: str
    youngest: int

    def is_settled(self, now: int) -> bool:
        return self.youngest + MARGIN < now


def sight_of(folder: str, state: FolderState) -> Sight | None:
    """While it is the same, so is the state, which takes twice as long to find out; None where something is gone."""
    seen: list[int] = []
    try:
        for line in ("", *state.entries):
            path = line.partition("\0")[0].removesuffix("/")
            found = os.lstat(f"{folder}/{path}" if path else folder)
            seen += (found.st_mode, found.st_size, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
    except OSError:
        return None
    return Sight(_hash(marshal.dumps(seen, _PLAIN)), max(*seen[4::6], *seen[5::6]))


def content_digest(folder: str, state: FolderState) -> str:
    """Of the names and bytes of all regular files. Of others only that they are there; of what can't be read, why."""
    return _hashed(part for line in state.entries for part in _content(folder, line))


def _content(folder: str, line: str) -> tuple[str, ...]:
    path, _, about = line.partition("\0")
    if not about.startswith("-"):
        return (path, about if about.startswith("!") else about.partition(" ")[0])
    try:
        return path, _hash_of(f"{folder}/{path}" if path else folder)
    except OSError as error:
        return path, f"! {error.errno}"


def _hash_of(path: str) -> str:
    """Of a file's bytes, a part at a time; of a large one its size. Raises OSError."""
    from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL

    found = blake2b(digest_size=20)
    with open(path, "rb") as stream:  # noqa: PTH123 - thousands of files: strings, not Path objects
        size = os.fstat(stream.fileno()).st_size
        if size > _MOST_READ:
            return f"{size} bytes"
        left = _MOST_READ
        while left > 0 and (part := stream.read(_CHUNK)):
            found.update(part)
            left -= len(part)
    return found.hexdigest()


def file_state(path: str) -> str:
    """The state of one file, in a line; that it is not there, where it is not."""
    return _alone(path)


def _alone(path: str) -> str:
    try:
        return _line("", os.lstat(path))
    except OSError as error:
        return f"\0none {error.errno}"


def _line(path: str, state: os.stat_result) -> str:
    return "%s\0%s %o %d %d %d %d %d" % (  # noqa: UP031 - thousands of files: faster than the other ways
        path,
        "-" if stat.S_ISREG(state.st_mode) else "?",
        state.st_mode,
        state.st_size,
        state.st_dev,
        state.st_ino,
        state.st_mtime_ns,
        state.st_ctime_ns,
    )


def _hashed(parts: Iterable[str]) -> str:
    """The parts hold no NUL, as names of files can't: with that between them no two lists are the same text."""
    return _hash("\0".join(parts).encode("utf-8", "surrogateescape"))


def _hash(content: bytes) -> str:
    from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL

    return blake2b(content, digest_size=20).hexdigest()
