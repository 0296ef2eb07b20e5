"""Which keys the chart of Node Feature Discovery reads below its components only."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store


@cache
def _facts() -> dict[str, Any]:
    return store.read_yaml("values/discovery.yaml")


def discovery_components() -> tuple[str, ...]:
    """Keys at the top of its values that hold those of a workload."""
    return tuple(_facts()["components"])


def components_reading(key: str) -> tuple[str, ...]:
    """Those below which a key belongs that does nothing at the top; none for any other key."""
    return tuple(_facts()["below"].get(key, ()))
