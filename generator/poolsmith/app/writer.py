"""One writer per project. Floor: app."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from poolsmith.app.project import OUTPUT
from poolsmith.diagnostics import WriteError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.app.project import Project


@contextmanager
def only_writer(project: Project) -> Iterator[None]:
    """One writer per project; a second one is refused, not queued. Raises WriteError."""
    folder = project.root / OUTPUT
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise WriteError(f"can't write to {folder}: {error.strerror or error}; nothing was changed") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WriteError(f"another poolsmith is writing to {folder}; nothing was changed") from None
        except OSError:
            pass  # a file system without locks: writing stays atomic per cluster
        yield
    finally:
        os.close(descriptor)
