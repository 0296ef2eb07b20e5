"""A file that can't be read as a whole, one document at a time: what is sound is judged, what is broken is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.diagnostics.codes import reading
from poolsmith.repository.manifest_files import CheckedDocument
from poolsmith.sources.input_tree import yaml_diagnostic
from poolsmith.sources.stream_places import StreamPlaces
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from poolsmith.diagnostics import Diagnostic

_BEGINNING = re.compile(r"^---(?=[ \t\r]*(?:#.*)?$)", re.MULTILINE)
MOST_DOCUMENTS = 100
"""Each is read with the lines above it empty, so that places stay those of the file; so are broken ones in the rest."""
MOST_BYTES = 256 * 1024


def read_apart(shown: str, content: bytes, problem: Diagnostic) -> tuple[list[CheckedDocument], list[Diagnostic]]:
    """The sound documents of a file of which `problem` was told, and what is wrong with each of the others.

    Only the problem where the file is large, has one document, or can't be taken apart.
    """
    if len(content) > MOST_BYTES or problem.code in (reading.NOT_UTF8.code, reading.INPUT_LIMIT.code):
        return [], [problem]
    text = content.decode("utf-8")
    begins = [match.start() for match in _BEGINNING.finditer(text)]
    places = [0, *(place for place in begins if place)]
    if not 1 < len(places) <= MOST_DOCUMENTS:
        return [], [problem]
    problems: list[Diagnostic] = []
    sound: list[str] = []
    for start, end in zip(places, (*places[1:], len(text)), strict=True):
        lines_above = "\n" * text.count("\n", 0, start)
        try:
            read_documents(lines_above + text[start:end])
        except YamlProblem as wrong:
            problems.append(yaml_diagnostic(shown, text, wrong))
            marker = "---" if start else ""
            sound.append(marker + "\n" * text.count("\n", start, end))
        else:
            sound.append(text[start:end])
    rest = "".join(sound)
    try:
        found = read_documents(rest)
    except YamlProblem:
        return [], [problem]
    stream = StreamPlaces(shown, rest)
    documents = [CheckedDocument(shown, index, data, rest, stream) for index, data in enumerate(found)]
    return [document for document in documents if document.data is not None], problems or [problem]
