"""Texts of ConfigMaps that are YAML: what they say is compared, not how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.server.fields import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator


def within(one: Difference) -> Iterator[Difference]:
    """Of a text, the values in it that differ: none where only comments and spelling do. Anything else as it is."""
    if one.pointer.startswith("/data/"):
        given, held = _values(one.given), _values(one.held)
        if given is not None and held is not None:
            yield from _apart(given, held, one.pointer)
            return
    yield one


def _values(text: Any) -> dict[str, Any] | None:
    """None for what is no text, or no mapping in YAML."""
    if not isinstance(text, str):
        return None
    try:
        documents = read_documents(text)
    except YamlProblem:
        return None
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else None


def _apart(given: dict[str, Any], held: dict[str, Any], pointer: str) -> Iterator[Difference]:
    for key in {**given, **held}:
        ours, theirs, where = given.get(key), held.get(key), join(pointer, key)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            yield from _apart(ours, theirs, where)
        elif ours != theirs or type(ours) is not type(theirs):
            yield Difference(where, ours, theirs)
