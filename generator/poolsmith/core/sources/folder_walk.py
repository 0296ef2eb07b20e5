"""The files below a folder, however deep a stranger has nested it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_DEPTH = 64
_SHOWN = 120


def walk(
    top: str, is_skipped: Callable[[str], bool], failed: Callable[[OSError], object] = lambda _: None
) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names of its files, sorted; links to folders are not followed.

    `is_skipped` tells folders by their names. What can't be listed, and what is nested too deep, goes to `failed`.
    """
    pending = [(top, 0)]
    while pending:
        folder, depth = pending.pop()
        if depth > MAX_DEPTH:
            failed(OSError(errno.ENAMETOOLONG, f"nested deeper than {MAX_DEPTH} folders", folder[:_SHOWN]))
            continue
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if not is_folder and entry.is_symlink() and entry.is_dir():
                        continue
                    (folders if is_folder else files).append(entry.name)
        except OSError as error:
            failed(error)
            continue
        yield folder, sorted(files)
        pending += [(f"{folder}/{name}", depth + 1) for name in sorted(folders, reverse=True) if not is_skipped(name)]
