"""JSON of strangers: why a file of a pack is no entry of the catalog."""

from __future__ import annotations

import json
from typing import Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes.reading import PACK_REFUSED
from poolsmith.core.sources.input_tree import decoded

_DEEPEST = 64


def json_problem(content: bytes, shown: str) -> Diagnostic | None:
    """Why a file is no entry: no JSON, keys that are twice there, numbers that JSON has not, nested too deep."""
    text = decoded(content, shown)
    if isinstance(text, Diagnostic):
        return text
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
        if not isinstance(found, dict):
            return diagnose(PACK_REFUSED, "the file holds no mapping", whole_file(shown))
        _measure(found, 0)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        return diagnose(PACK_REFUSED, f"this is no JSON of a pack: {reason}", whole_file(shown))
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a mapping has a key twice")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _measure(node: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise RecursionError
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _measure(child, depth + 1)
