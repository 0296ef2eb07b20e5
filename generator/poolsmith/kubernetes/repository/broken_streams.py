"""A file that can't be read as a whole, one document at a time: what is sound is judged, what is broken is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.sources.input_tree import yaml_diagnostic
from poolsmith.core.sources.stream_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Diagnostic

_BEGINNING = re.compile(r"^---(?=[ \t\r]*(?:#.*)?$)", re.MULTILINE)
MOST_DOCUMENTS = 100
"""Each is read with the lines above it empty, so that places stay those of the file; so are broken ones in the rest."""
MOST_BYTES = 256 * 1024
MOST_LINES = 4_000
_MOST_INDENT = 1_000


def read_apart(shown: str, content: bytes, problem: Diagnostic) -> tuple[list[CheckedDocument], list[Diagnostic]]:
    """The sound documents of a file of which `problem` was told, and what is wrong with each of the others.

    Of a broken document the lines around the mistake are left out, and it is incomplete. Only the problem where the
    file is large, or can't be taken apart.
    """
    if len(content) > MOST_BYTES or problem.code in (reading.NOT_UTF8.code, reading.INPUT_LIMIT.code):
        return [], [problem]
    text = content.decode("utf-8")
    begins = [match.start() for match in _BEGINNING.finditer(text)]
    places = [0, *(place for place in begins if place)]
    if len(places) > MOST_DOCUMENTS:
        return [], [problem]
    problems: list[Diagnostic] = []
    sound: list[str] = []
    mended: set[int] = set()
    for number, (start, end) in enumerate(zip(places, (*places[1:], len(text)), strict=True)):
        lines_above = "\n" * text.count("\n", 0, start)
        try:
            read_documents(lines_above + text[start:end])
        except YamlProblem as wrong:
            problems.append(yaml_diagnostic(shown, text, wrong))
            rest = _without_broken_lines(text[start:end], wrong, len(lines_above))
            if rest is None:
                marker = "---" if start else ""
                rest = marker + "\n" * text.count("\n", start, end)
            else:
                mended.add(number)
            sound.append(rest)
        else:
            sound.append(text[start:end])
    whole = "".join(sound)
    try:
        found = read_documents(whole)
    except YamlProblem:
        return [], [problem]
    first = len(places) - len(found)  # what stands before the first marker may be no document
    stream = StreamPlaces(shown, whole)
    documents = [
        CheckedDocument(shown, index, data, whole, stream, is_incomplete=index + first in mended)
        for index, data in enumerate(found)
    ]
    return [document for document in documents if document.data is not None], problems or [problem]


def _without_broken_lines(text: str, problem: YamlProblem, above: int) -> str | None:
    """One document with the lines of its first mistakes empty; None where that does not make it readable.

    Tried are the line of a mistake, the one above it, then the block that it stands in, and the blocks around that.
    """
    lines = text.split("\n")
    at = problem.position.line - 1 - above if problem.position is not None else -1
    if not 0 <= at < len(lines) or len(lines) > MOST_LINES:
        return None
    for first, last in ((at, at + 1), (max(at - 1, 0), at + 1), *_blocks(lines, at)):
        blanked = [*lines[:first], *([""] * (last - first)), *lines[last:]]
        if first == 0 and lines[0].startswith("---"):
            blanked[0] = "---"
        try:
            read_documents("\n".join(blanked))
        except YamlProblem:
            continue
        return "\n".join(blanked)
    return None


def _blocks(lines: list[str], at: int) -> Iterator[tuple[int, int]]:
    """First line and the line behind the last of the blocks around a line, from the inmost out to a key at the left."""
    first, indent = at, _MOST_INDENT
    while indent > 0:
        while first >= 0 and (not lines[first].strip() or _indent(lines[first]) >= indent):
            first -= 1
        if first < 0:
            return
        indent = _indent(lines[first])
        last = max(first + 1, at)
        while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > indent):
            last += 1
        if not lines[first].startswith("---"):
            yield first, last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
