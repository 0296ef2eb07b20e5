"""Text and YAML documents of any file that a user names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.sources.input_tree import decoded, read_bytes, yaml_diagnostic
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from pathlib import Path


def read_text_file(file: Path, shown: str, limit: int) -> str | Diagnostic:
    """The text of a regular file of at most `limit` bytes; `shown` is its path in messages."""
    content = read_bytes(file, shown, limit)
    return content if isinstance(content, Diagnostic) else decoded(content, shown)


def read_yaml_documents(text: str, shown: str) -> list[Any] | Diagnostic:
    """Every document of a stream; JSON is YAML too."""
    try:
        return read_documents(text)
    except YamlProblem as problem:
        return yaml_diagnostic(shown, text, problem)
