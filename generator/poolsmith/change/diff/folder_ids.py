"""Which of a project's own files a change touches, by git's ids of their contents; nothing is parsed for it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from poolsmith.guard.policies.base_revision import GitFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.core.sources.git_index import IndexEntry

_SHA1 = 40
_REGULAR, _EXECUTABLE, _OTHER = "100644", "100755", "000000"
_UNLIKE_ANY = GitFile(_OTHER, "")
_MOST_BYTES = 32 << 20
_DEEPEST = 32


def below(files: Mapping[str, GitFile], prefix: str, folders: Iterable[str]) -> dict[str, GitFile]:
    """Of a revision: the files of some folders of the project, by path from its root."""
    starts = tuple(f"{prefix}{folder}/" for folder in folders)
    return {path.removeprefix(prefix): file for path, file in files.items() if path.startswith(starts)}


def on_disk(
    root: Path, folders: Iterable[str], known: Mapping[str, GitFile], settled: Mapping[str, IndexEntry]
) -> dict[str, GitFile]:
    """The same of what is checked out. `known` are those of a revision: they tell what sort of ids there are. What
    is as `settled` entries of the index say is not read.

    A link, a special file or one too large to be ours is like nothing that a revision has. Raises OSError where a
    folder can't be listed.
    """
    length = max((len(file.blob) for file in known.values()), default=_SHA1)
    found: dict[str, GitFile] = {}
    pending = [folder for folder in folders if _is_folder(f"{root}/{folder}")]
    while pending:
        folder = pending.pop()
        with os.scandir(f"{root}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False) and path.count("/") < _DEEPEST:
                    pending.append(path)
                    continue
                entry_of = settled.get(path)
                if entry_of is not None and entry_of.is_as(entry.stat(follow_symlinks=False)):
                    found[path] = GitFile(entry_of.mode, entry_of.blob)
                else:
                    found[path] = _file(entry.path, length)
    return found


def _is_folder(path: str) -> bool:
    """A link is none: what it leads to is not the project's."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def blob_id(content: bytes, length: int = _SHA1) -> str:
    """What git calls a content, in a repository whose ids have so many digits."""
    from hashlib import new  # on demand: it loads OpenSSL

    digest = new("sha1" if length == _SHA1 else "sha256", b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def _file(path: str, length: int) -> GitFile:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return _UNLIKE_ANY
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
            return _UNLIKE_ANY
        with open(descriptor, "rb", closefd=False) as stream:
            content = stream.read()
    except OSError:
        return _UNLIKE_ANY
    finally:
        os.close(descriptor)
    return GitFile(_EXECUTABLE if state.st_mode & stat.S_IXUSR else _REGULAR, blob_id(content, length))
