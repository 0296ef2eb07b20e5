"""Versions of the engines that deliver, and what each does otherwise with the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FILE = "engines/versions.yaml"


def engine_facts(engine: str) -> Mapping[str, Any]:
    """`name`, `versions` by minor version, and `least`: what generated output needs. Of a tool its `name` alone."""
    table = store.table(_FILE)
    facts: Mapping[str, Any] = table["engines"].get(engine) or table["tools"][engine]
    return facts


def differences() -> Iterator[Mapping[str, Any]]:
    yield from store.table(_FILE)["differences"]


def difference(name: str) -> Mapping[str, Any]:
    """A row by its `id`."""
    return next(row for row in differences() if row["id"] == name)


def is_known(engine: str, version: str) -> bool:
    return line_of(version) in engine_facts(engine)["versions"]


def tool_version(tool: str, engines: Mapping[str, str]) -> str:
    """Of a tool that is pinned, or that one of these engines renders with; empty where nobody knows, or they differ."""
    if tool in engines:
        return engines[tool]
    tables = (engine_facts(engine).get("versions", {}).get(version, {}) for engine, version in engines.items())
    found = {str(table[tool]) for table in tables if tool in table}
    return found.pop() if len(found) == 1 else ""


def holds(row: Mapping[str, Any], engines: Mapping[str, str]) -> bool | None:
    """Whether these versions do so, by their minors; None where the version that counts is not known."""
    version = tool_version(row["tool"], engines) if "tool" in row else engines.get(row["engine"])
    return covers(row, line_of(version)) if version else None
