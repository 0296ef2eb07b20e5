"""A Helm values file, read strictly.

Helm takes the last of two equal keys and the first of several documents, silently; here both are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Location, diagnose, point_in, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.sources.input_tree import read_text_file, read_yaml_documents, without_empty_end

if TYPE_CHECKING:
    from pathlib import Path

MAX_VALUES_BYTES = 8 << 20


def read_values(file: Path, shown: str) -> dict[str, Any] | Diagnostic:
    """The values in `file`, or what is wrong with it. An empty file has none, as for Helm."""
    text = read_text_file(file, shown, MAX_VALUES_BYTES)
    if isinstance(text, Diagnostic):
        return text
    documents = read_yaml_documents(text, shown)
    if isinstance(documents, Diagnostic):
        return documents
    return _one_mapping(shown, documents)


def _one_mapping(shown: str, documents: list[Any]) -> dict[str, Any] | Diagnostic:
    documents = without_empty_end(documents)
    if len(documents) > 1:
        message = f"{len(documents)} documents in one values file; Helm reads the first only"
        return diagnose(reading.SEVERAL_DOCUMENTS, message, whole_file(shown))
    values = documents[0] if documents else None
    if values is None:
        return {}
    if not isinstance(values, dict):
        return not_a_mapping(values, point_in(shown, 1, 1))
    return values


def not_a_mapping(values: Any, location: Location) -> Diagnostic:
    what = "a list" if isinstance(values, list) else "a single value"
    message = f"the values are {what}, not a mapping"
    return diagnose(reading.NOT_A_MAPPING, message, location, help="start the file with a key of the chart: `driver:`")
