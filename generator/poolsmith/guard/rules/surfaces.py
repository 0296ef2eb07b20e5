"""On which surfaces a rule speaks of one and the same configuration, and why it does not on the others."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store

YES = "yes"


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = store.read_yaml("rule_surfaces.yaml")
    return table


def columns() -> tuple[str, ...]:
    """The surfaces, in order."""
    return tuple(_table()["columns"])


def rule_surfaces() -> dict[str, dict[str, str]]:
    """By the code of a rule and the surface: `yes`, the code of a rule that speaks there, or a word for the reason."""
    return {code: dict(zip(columns(), cells, strict=True)) for code, cells in _table()["rules"].items()}


def reasons() -> dict[str, str]:
    """What the words for reasons mean."""
    return dict(_table()["reasons"])


def not_live() -> dict[str, str]:
    """Rules over a setup that don't run on what is read of a live cluster: the code, and why."""
    return dict(_table()["live"])
