"""What Flux leaves out of a repository: `.sourceignore` of its folders, and `ignore` of the GitRepository.

Source: fluxcd/pkg sourceignore/sourceignore.go; go-git plumbing/format/gitignore, whose last pattern that fits decides.
"""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

FILE = ".sourceignore"
_ANY = "**"
_MOST = 1_000
_MOST_STEPS = 60


@record(kw_only=False)
class IgnorePattern:
    """One line; `steps` are what is between its slashes, and `above` is the folder of the file that has it."""

    steps: tuple[str, ...]
    above: tuple[str, ...]
    is_kept: bool
    is_folder: bool

    def fits(self, path: tuple[str, ...]) -> bool:
        """A file below what it fits is fitted, too."""
        if path[: len(self.above)] != self.above:
            return False
        rest = path[len(self.above) :]
        names = rest[:-1] if self.is_folder else rest
        if len(self.steps) == 1:
            return any(fnmatchcase(name, self.steps[0]) for name in names)
        return _fits(self.steps, names)


def _fits(steps: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether the names begin with what the steps say."""
    is_open = False
    at = 0
    for step in steps:
        if step == _ANY:
            is_open = True
        elif step:
            while is_open and at < len(names) and not fnmatchcase(names[at], step):
                at += 1
            if at >= len(names) or not fnmatchcase(names[at], step):
                return False
            at, is_open = at + 1, False
    return at > 0


def patterns_of(text: str, above: tuple[str, ...] = ()) -> Iterator[IgnorePattern]:
    for line in text.splitlines()[:_MOST]:
        said = line.rstrip().replace("[^", "[!")
        if said and not said.startswith("#"):
            is_kept, said = said.startswith("!"), said.removeprefix("!")
            is_folder, said = said.endswith("/"), said.removesuffix("/")
            steps = tuple(said.split("/"))
            if len(steps) <= _MOST_STEPS and said:
                yield IgnorePattern(steps, above, is_kept, is_folder)


def left_out_of(top: str, path: str, said: str, files: RepositoryFiles) -> bool:
    """Whether a file below `top` is left out; `said` is what the GitRepository has in `ignore`."""
    names = tuple(posixpath.relpath(path, top or ".").split("/"))
    found = [*_of_folders(top, names, files), *patterns_of(said)]
    return next((not item.is_kept for item in reversed(found) if item.fits(names)), False)


def _of_folders(top: str, names: tuple[str, ...], files: RepositoryFiles) -> Iterator[IgnorePattern]:
    for depth in range(len(names)):
        place = posixpath.join(top, *names[:depth], FILE)
        if files.is_file(place):
            yield from patterns_of(files.text(place) or "", names[:depth])
