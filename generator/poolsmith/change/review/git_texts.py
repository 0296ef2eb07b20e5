"""Texts of files of the base and of a change, from git's objects; what is too large or no text is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.base_revision import SUBMODULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.guard.policies.base_revision import GitFile

FLAG = "--policies-from"
_MOST_BYTES = 1 << 20


class GitTexts:
    """Of one tree. Each text is read once."""

    def __init__(self, root: Path, files: Mapping[str, GitFile]) -> None:
        self.files = files
        self._git = Git(root, FLAG)
        self._texts: dict[str, str | None] = {}

    def of(self, paths: Iterable[str]) -> dict[str, str | None]:
        """By path; only of files that there are. Raises UsageError for objects that are not in the clone."""
        there = [path for path in dict.fromkeys(paths) if path in self.files]
        self._read({self.files[path].blob for path in there if self.files[path].mode != SUBMODULE})
        return {path: self._texts.get(self.files[path].blob) for path in there}

    def text(self, path: str) -> str | None:
        return self.of((path,)).get(path)

    def _read(self, blobs: set[str]) -> None:
        unread = sorted(blobs - self._texts.keys())
        if not unread:
            return
        sizes = self._git.sizes(unread)
        # of a missing object there is no size: reading it will say so
        small = [blob for blob, size in zip(unread, sizes, strict=True) if size is None or size <= _MOST_BYTES]
        self._texts.update(dict.fromkeys(unread))
        for blob, content in zip(small, self._git.contents(small), strict=True):
            self._texts[blob] = _decoded(content)


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
