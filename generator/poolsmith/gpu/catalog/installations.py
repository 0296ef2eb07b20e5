"""Installations that two releases are compared by."""

from __future__ import annotations

from functools import cache

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record(kw_only=False)
class KnownInstallation:
    """`values` are assignments in Helm's `--set` grammar, on top of a chart's defaults."""

    title: str
    values: tuple[str, ...]


@record
class KnownInstallations:
    """The installations, and the labels of the nodes that all of them have, by name."""

    installations: tuple[KnownInstallation, ...]
    nodes: dict[str, dict[str, str]]


@cache
def read_installations() -> KnownInstallations:
    data = store.read_yaml("installations.yaml")
    return KnownInstallations(
        installations=tuple(KnownInstallation(item["title"], tuple(item["values"])) for item in data["installations"]),
        nodes={name: data["labels"] | labels for name, labels in data["nodes"].items()},
    )
