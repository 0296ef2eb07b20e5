"""A Helm values file, read strictly. Floor: load.

Helm takes the last of two equal keys and the first of several documents, silently; here both are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import Diagnostic, Location, Position, Span, diagnose, whole_file
from poolsmith.diagnostics.codes import reading
from poolsmith.sources.input_tree import read_bytes, yaml_diagnostic
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from pathlib import Path

MAX_VALUES_BYTES = 8 << 20
_BOM = "\ufeff"


def read_values(file: Path, shown: str) -> dict[str, Any] | Diagnostic:
    """The values in `file`, or what is wrong with it. An empty file has none, as for Helm."""
    content = read_bytes(file, shown, MAX_VALUES_BYTES)
    if isinstance(content, Diagnostic):
        return content
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        column = len(before) - (before.rfind("\n") + 1) + 1
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        return diagnose(reading.NOT_UTF8, message, _at(shown, before.count("\n") + 1, column))
    if text.startswith(_BOM):
        return diagnose(reading.BYTE_ORDER_MARK, "the file starts with a byte-order mark", _at(shown, 1, 1))
    try:
        documents = read_documents(text)
    except YamlProblem as problem:
        return yaml_diagnostic(shown, text, problem)
    return _one_mapping(shown, documents)


def _one_mapping(shown: str, documents: list[Any]) -> dict[str, Any] | Diagnostic:
    while len(documents) > 1 and documents[-1] is None:
        documents = documents[:-1]
    if len(documents) > 1:
        message = f"{len(documents)} documents in one values file; Helm reads the first only"
        return diagnose(reading.SEVERAL_DOCUMENTS, message, whole_file(shown))
    values = documents[0] if documents else None
    if values is None:
        return {}
    if not isinstance(values, dict):
        return not_a_mapping(values, _at(shown, 1, 1))
    return values


def not_a_mapping(values: Any, location: Location) -> Diagnostic:
    what = "a list" if isinstance(values, list) else "a single value"
    message = f"the values are {what}, not a mapping"
    return diagnose(reading.NOT_A_MAPPING, message, location, help="start the file with a key of the chart: `driver:`")


def _at(shown: str, line: int, column: int) -> Location:
    position = Position(line, column)
    return Location(span=Span(path=shown, start=position, end=position))
