"""Versions of the engines that deliver, and what each does otherwise with the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers, line_of, version_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FILE = "engines/versions.yaml"


def engine_facts(engine: str) -> Mapping[str, Any]:
    """`name`, `versions` by minor version, and `least`: what generated output needs."""
    facts: Mapping[str, Any] = store.table(_FILE)["engines"][engine]
    return facts


def differences(engine: str | None = None) -> Iterator[Mapping[str, Any]]:
    return (row for row in store.table(_FILE)["differences"] if engine in (None, row["engine"]))


def holds(row: Mapping[str, Any], version: str) -> bool:
    """Whether a version does so, by its minor."""
    return covers(row, line_of(version))


def is_known(engine: str, version: str) -> bool:
    return line_of(version) in engine_facts(engine)["versions"]


def told_since(engine: str, version: str) -> tuple[str, ...]:
    """What it does otherwise than the oldest version of the table, in words."""
    return told_between(engine, min(engine_facts(engine)["versions"], key=version_key), version)


def told_between(engine: str, before: str, after: str) -> tuple[str, ...]:
    """What a version does that another one does not, in words; none where one of them has no known facts."""
    if not (is_known(engine, before) and is_known(engine, after)):
        return ()
    return tuple(row["says"] for row in differences(engine) if holds(row, after) and not holds(row, before))
