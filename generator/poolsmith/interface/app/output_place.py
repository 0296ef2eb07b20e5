"""Where the output stands: beside the profiles, in another folder (a work tree of another branch or repository, an
artefact that was pulled), or in a git revision."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAG = "--against"


@contextmanager
def output_place(root: Path, folder: Path | None, revision: str | None) -> Iterator[Path | None]:
    """The folder that holds `output/`; None for the project's own.

    `revision` is a git revision of the project's repository, or REV:PATH where its output stands elsewhere; its files
    come from git's objects. Raises UsageError.
    """
    if revision is None:
        if folder is not None and not folder.is_dir():
            raise UsageError(f"{folder} is not a folder")
        yield folder
        return
    if folder is not None:
        raise UsageError(f"{FLAG} names the output of a revision, and --output-root a folder: take one of them")
    from poolsmith.core.sources.git import Git  # on demand
    from poolsmith.guard.policies.revision import folder_with, tree_at  # on demand

    name, _, path = revision.partition(":")
    git = Git(root, FLAG)
    tree = tree_at(git, git.commit(name))
    places = (path.strip("/"),) if path else (f"{tree.prefix}{OUTPUT}", OUTPUT)
    for place in places:
        start = f"{place}/"
        files = {
            f"{OUTPUT}/{file.removeprefix(start)}": found
            for file, found in tree.files.items()
            if file.startswith(start)
        }
        if files:
            break
    else:
        raise UsageError(
            f"{FLAG}: {name} has no folder {places[-1]}/; write REV:PATH where its output stands elsewhere"
        )
    with folder_with(git, files) as found_at:
        yield found_at
