"""Where something stands in a file."""

from __future__ import annotations

from dataclasses import field

from poolsmith.core.diagnostics.masking import NO_SECRETS, KnownSecrets
from poolsmith.core.record import record


@record(kw_only=False, order=True)
class Position:
    """A place in a text file; line and column count from 1, columns count code points."""

    line: int
    column: int


@record
class Span:
    """A stretch of a file. Without `start` it means the whole file.

    `path` is relative to the project root, with forward slashes.
    """

    path: str
    start: Position | None = None
    end: Position | None = None

    def __str__(self) -> str:
        if self.start is None:
            return self.path
        return f"{self.path}:{self.start.line}:{self.start.column}"


@record
class Location:
    """A span, the JSON pointer (RFC 6901) that led to it, and what is to be seen there.

    `source_line` is without secrets. `secrets` are those of the file: a diagnostic leaves them out of its texts, and
    forgets them.
    """

    span: Span
    pointer: str = ""
    note: str | None = None
    source_line: str | None = None
    secrets: KnownSecrets = field(default=NO_SECRETS, compare=False, repr=False)
