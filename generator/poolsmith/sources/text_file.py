"""Text and YAML documents of any file that a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import Diagnostic, Location, Position, Span, diagnose
from poolsmith.diagnostics.codes import reading
from poolsmith.sources.input_tree import read_bytes, yaml_diagnostic
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from pathlib import Path

_BOM = "\ufeff"


def read_text_file(file: Path, shown: str, limit: int) -> str | Diagnostic:
    """The text of a regular file of at most `limit` bytes; `shown` is its path in messages."""
    content = read_bytes(file, shown, limit)
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
    return text


def read_yaml_documents(text: str, shown: str) -> list[Any] | Diagnostic:
    """Every document of a stream; JSON is YAML too."""
    try:
        return read_documents(text)
    except YamlProblem as problem:
        return yaml_diagnostic(shown, text, problem)


def _at(shown: str, line: int, column: int) -> Location:
    position = Position(line, column)
    return Location(span=Span(path=shown, start=position, end=position))
