"""The text of a comment out of an artifact that a stranger's run has made: bytes to be doubted, never put on disk."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib

ENTRY = "comment.md"
MOST_ZIPPED = 1 << 20
MOST_TEXT = 256 << 10
_KNOWN = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_ENCRYPTED = 1


class HostileArtifactError(Exception):
    """Why an artifact is not read."""


def text_of(content: bytes) -> str:
    """The one file `comment.md`, as text. Raises HostileArtifactError."""
    if len(content) > MOST_ZIPPED:
        raise HostileArtifactError("it is too large")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if [entry.filename for entry in entries] != [ENTRY]:
                raise HostileArtifactError(f"it has other files than {ENTRY}")
            return _read(archive, entries[0])
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise HostileArtifactError("it is no sound archive") from error


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or entry.flag_bits & _ENCRYPTED or entry.compress_type not in _KNOWN:
        raise HostileArtifactError(f"{ENTRY} is no plain file")
    with archive.open(entry) as stream:
        text = stream.read(MOST_TEXT + 1)
    if len(text) > MOST_TEXT:
        raise HostileArtifactError(f"{ENTRY} is too long")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HostileArtifactError(f"{ENTRY} is no text") from error
