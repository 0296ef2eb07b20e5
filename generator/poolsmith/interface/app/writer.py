"""One writer per project."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import WriteError
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from poolsmith.project.run.project import Project


@contextmanager
def only_writer(project: Project) -> Iterator[None]:
    """One writer per project; a second one is refused, not queued. Raises WriteError.

    Only who may write removes folders: with the folder goes the lock, and a third would be let in beside the first.
    """
    folder = project.output_root / OUTPUT
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise WriteError(f"can't write to {folder}: {error.strerror or error}; nothing was changed") from error
    try:
        if not _is_ours(descriptor, folder):
            raise WriteError(f"another poolsmith is writing to {folder}; nothing was changed")
        try:
            yield
        finally:
            if is_new:
                _remove_empty(project.clusters_folder, folder)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, folder: Path) -> bool:
    """Whether nobody else may write there now. A folder that somebody replaced since it was opened is theirs."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: writing stays atomic per cluster
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except OSError:
        return False


def _remove_empty(*folders: Path) -> None:
    """A run that wrote nothing leaves nothing, not even the folders that it made."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
