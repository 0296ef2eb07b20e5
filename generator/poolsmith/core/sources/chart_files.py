"""The files of a Helm chart, from a folder or an archive of a stranger.

An archive is read as a stream in memory: nothing is extracted, and what it expands to is bounded.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zlib
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import PoolsmithError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ARCHIVE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 64 << 20
MAX_FILE_BYTES = 8 << 20
MAX_FILES = 5_000
_LONGEST_NAME = 512


class _Bounded(io.RawIOBase):
    """A stream that ends the run when it gives more than a chart has."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        super().__init__()
        self._stream = stream
        self._given = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = size if 0 <= size <= MAX_TOTAL_BYTES else MAX_TOTAL_BYTES + 1
        data = self._stream.read(wanted)
        self._given += len(data)
        if self._given > MAX_TOTAL_BYTES:
            raise PoolsmithError(f"the archive expands to more than {MAX_TOTAL_BYTES:,} bytes")
        return data


def read_chart_files(path: Path) -> dict[str, bytes]:
    """Content by path below the chart's folder. Raises UsageError, PoolsmithError."""
    if path.is_dir():
        return _from_folder(path)
    if not path.is_file():
        raise UsageError(f"{path} is neither a chart's folder nor an archive of one")
    if path.stat().st_size > MAX_ARCHIVE_BYTES:
        raise PoolsmithError(f"{path} is larger than {MAX_ARCHIVE_BYTES:,} bytes")
    try:
        with gzip.open(path) as stream:
            return dict(_members(stream))
    except (tarfile.TarError, OSError, EOFError, zlib.error, UnicodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "`helm pull` and `helm package` make one"
        raise PoolsmithError(f"{path} is no .tgz archive that can be read: {reason}") from None


def _members(stream: gzip.GzipFile) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    top: str | None = None
    with tarfile.open(fileobj=_Bounded(stream), mode="r|") as archive:
        for count, member in enumerate(archive):
            name = _sound_name(member.name)
            if count >= MAX_FILES:
                raise PoolsmithError(f"the archive has more than {MAX_FILES:,} entries")
            if member.isdir():
                continue
            if not member.isreg():
                raise PoolsmithError(
                    f"the archive holds a link or device, `{_shown(name)}`; a chart has plain files only"
                )
            if member.size > MAX_FILE_BYTES:
                raise PoolsmithError(f"`{_shown(name)}` in the archive is larger than {MAX_FILE_BYTES:,} bytes")
            root, _, inner = name.partition("/")
            top = top or root
            if not inner or root != top:
                raise PoolsmithError(f"`{_shown(name)}` in the archive is not in the chart's one folder")
            if inner in seen:
                raise PoolsmithError(f"`{_shown(name)}` is twice in the archive")
            seen.add(inner)
            content = archive.extractfile(member)
            yield inner, content.read() if content is not None else b""


def _sound_name(name: str) -> str:
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or len(name) > _LONGEST_NAME:
        raise PoolsmithError(f"the archive has an entry with the path `{_shown(name)}`; it may not leave its folder")
    return "/".join(part for part in parts if part not in ("", "."))


def _from_folder(folder: Path) -> dict[str, bytes]:
    """Links are refused in a folder too: what is read is below it."""
    found: dict[str, bytes] = {}
    total = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            full = os.path.join(parent, name)  # noqa: PTH118 - os.walk gives strings
            shown = os.path.relpath(full, folder).replace(os.sep, "/")
            status = os.lstat(full)
            if not stat.S_ISREG(status.st_mode):
                raise PoolsmithError(f"`{_shown(shown)}` in the chart is not a regular file")
            total += status.st_size
            if status.st_size > MAX_FILE_BYTES or total > MAX_TOTAL_BYTES or len(found) >= MAX_FILES:
                raise PoolsmithError(f"the folder {folder} is larger than a chart is; name the chart's own folder")
            with open(full, "rb") as stream:  # noqa: PTH123 - as above
                found[shown] = stream.read(MAX_FILE_BYTES)
    return found


def _shown(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:80])
