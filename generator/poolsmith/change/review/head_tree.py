"""What a change would merge: the entries of git's index, and files that somebody may still add to it."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.base_revision import GitFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.guard.policies.base_revision import BaseRevision

FLAG = "--policies-from"
_UNSEEN = frozenset(("Cf", "Cc"))


@record(kw_only=False)
class HeadTree:
    """Paths from the top of the repository. `files` are those of the index, whether or not they are checked out;
    `untracked` those of the folders asked for that git does not ignore. Of a revision nothing is checked out."""

    files: Mapping[str, GitFile]
    untracked: frozenset[str]
    is_checked_out: bool = True

    def added(self, base: BaseRevision) -> list[str]:
        """Tracked files that are new, or are not as they are in the base: content, kind or mode."""
        return sorted(path for path, file in self.files.items() if base.files.get(path) != file)

    def gone(self, base: BaseRevision) -> list[str]:
        return sorted(base.files.keys() - self.files.keys())


def head_tree(root: Path, folders: Iterable[str]) -> HeadTree:
    """Of the repository that holds `root`; `folders` are pathspecs. Raises UsageError."""
    git = Git(root, FLAG)
    files = {}
    for entry in filter(None, git.run("ls-files", "-s", "-z", "--full-name", "--", ":/").stdout.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, blob, _ = about.decode("ascii").split()
        files[os.fsdecode(path)] = GitFile(mode, blob)
    listing = git.run("ls-files", "-o", "--exclude-standard", "-z", "--full-name", "--", *folders).stdout
    untracked = (os.fsdecode(path) for path in filter(None, listing.split(b"\0")))
    return HeadTree(files, frozenset(untracked))


def alike(path: str) -> str:
    """The same for names that some file system takes for one: letters of either case, compositions of letters, dots
    and blanks at the end, and what is not seen."""
    if path.isascii() and path.isprintable():
        folded = path.casefold()
        return folded if not ("./" in folded or " /" in folded or folded.endswith((".", " "))) else _trimmed(folded)
    seen = "".join(letter for letter in path if unicodedata.category(letter) not in _UNSEEN)
    return _trimmed(unicodedata.normalize("NFKC", seen).casefold())


def _trimmed(path: str) -> str:
    return "/".join(part.rstrip(". ") for part in path.split("/"))
