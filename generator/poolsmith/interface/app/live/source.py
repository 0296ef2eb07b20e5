"""Where a snapshot comes from: an API server, or a file."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.record import record
from poolsmith.interface.app.new_files import replace_file
from poolsmith.kubernetes.live.resources import OF_NAMESPACES
from poolsmith.kubernetes.live.stored import from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from poolsmith.kubernetes.live.reading import Reading
    from poolsmith.kubernetes.live.resources import Resource
    from poolsmith.kubernetes.live.snapshot import Snapshot


@record
class Source:
    """`file` in the place of a server; `save` writes what was read, secrets left out."""

    reading: Reading
    file: Path | None = None
    save: Path | None = None


def snapshot_of(
    source: Source,
    resources: Iterable[Resource],
    namespaces: Collection[str],
    of_namespaces: Collection[Resource] = OF_NAMESPACES,
) -> Snapshot:
    """Raises UsageError, ClusterError, WriteError."""
    if source.file is not None:
        try:
            text = source.file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{source.file} can't be read: {getattr(error, 'strerror', None) or error}") from None
        return from_text(text, str(source.file))
    from poolsmith.kubernetes.live.api_server import read_cluster  # kr8s, for who asks a server

    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = read_cluster(resources, namespaces, of_namespaces, source.reading, now)
    if source.save is not None:
        replace_file(source.save, to_text(found))
    return found
