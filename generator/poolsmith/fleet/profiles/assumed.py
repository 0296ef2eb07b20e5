"""Lines of profiles that only `init` and `discover` write, and that nobody has confirmed: a comment marks each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.shape import ASSUMED_VALUE
from poolsmith.core.diagnostics.diagnostic import point_in
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.sources.pointer import texts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.source_file import SourceFile

ASSUMED = "TODO assumed: nothing says it"
"""Above a field, or behind it on its line."""
_MARK = f"# {ASSUMED}"


def assumed_fields(file: SourceFile, subject: str = "") -> Iterator[Diagnostic]:
    """A finding for each line of a profile that still has the mark."""
    if ASSUMED not in file.text:
        return
    lines = file.text.splitlines()
    of_texts = {line.strip() for text in texts_in(file.data) if "\n" in text for line in text.splitlines()}
    for number, line in _field_lines(lines):
        if line.rstrip().endswith(_MARK) and line.strip() not in of_texts:
            yield _finding(file, number, subject)


def _field_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each line with the number of the one that a mark on it is about: itself, or the next that is no comment."""
    waiting: list[str] = []
    for number, line in enumerate(lines, 1):
        waiting.append(line)
        if number == len(lines) or not line.lstrip().startswith("#"):
            yield from ((number, item) for item in waiting)
            waiting = []


def _finding(file: SourceFile, number: int, subject: str) -> Diagnostic:
    line = (file.line(number) or "").rstrip()
    said = shorten(line.removesuffix(_MARK).strip())
    place = point_in(file.path, number, 1 + len(line) - len(line.lstrip()), line)
    return diagnose(ASSUMED_VALUE, f"`{said}` is assumed: nothing that was read says it", place, subject=subject)
