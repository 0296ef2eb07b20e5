"""What an editor has open: texts, paths, and places as it counts them.

Lines and characters count from 0; characters are units of UTF-16 unless the editor takes code points.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from poolsmith.core.diagnostics import Position
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import MAX_PROFILE_BYTES, read_text_file

if TYPE_CHECKING:
    from collections.abc import Sequence

UTF16, CODE_POINTS = "utf-16", "utf-32"


@record
class Document:
    """As the editor has it, saved or not."""

    uri: str
    path: str
    text: str

    @property
    def rows(self) -> list[str]:
        return self.text.split("\n")


def path_of(uri: str) -> str | None:
    """The absolute path of a file of this machine; None of anything else."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path or not path.startswith("/"):
        return None
    return os.path.normpath(path)


def uri_of(path: str) -> str:
    return Path(path).as_uri()


def is_below(path: str, folder: str) -> bool:
    """Whether a file stands in a folder, and no link leads out of it."""
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real.startswith(top.rstrip(os.sep) + os.sep)


def rows_on_disk(path: str) -> list[str]:
    """Of a file that nobody has open; none where it can't be read."""
    text = read_text_file(Path(path), path, MAX_PROFILE_BYTES)
    return text.split("\n") if isinstance(text, str) else []


def place_in(rows: Sequence[str], place: Any, encoding: str) -> Position | None:
    """What an editor calls {line, character}; None where that is no place."""
    line, character = (place.get("line"), place.get("character")) if isinstance(place, dict) else (None, None)
    if type(line) is not int or type(character) is not int or not 0 <= line < len(rows) or character < 0:
        return None
    row = rows[line].rstrip("\r")
    before = row[:character] if encoding == CODE_POINTS else _cut(row, character)
    return Position(line + 1, len(before) + 1)


def _cut(row: str, units: int) -> str:
    return row.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def shown_place(rows: Sequence[str], place: Position, encoding: str) -> dict[str, int]:
    row = rows[place.line - 1] if 0 < place.line <= len(rows) else ""
    before = row[: place.column - 1]
    units = len(before) if encoding == CODE_POINTS else len(before.encode("utf-16-le", "surrogatepass")) // 2
    return {"line": place.line - 1, "character": max(units, 0 if row else place.column - 1)}


def shown_range(rows: Sequence[str], start: Position, end: Position, encoding: str) -> dict[str, Any]:
    return {"start": shown_place(rows, start, encoding), "end": shown_place(rows, end, encoding)}
