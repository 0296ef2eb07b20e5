"""Clouds that install a driver on nodes with GPUs unless they are told not to, and how each tool says so."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record
class CloudDriver:
    """`path` leads to what decides, with a star for each item of a list; `off` is its value for none. `shown` is how
    people write that; `variables` the same in the words of Terraform's provider."""

    cloud: str
    path: tuple[str, ...]
    off: str
    shown: str
    variables: dict[str, Any]


def cloud_driver(kind: str) -> CloudDriver | None:
    """By the kind of an object that makes nodes; None of one that installs none, or of which nobody knows."""
    found = store.read_yaml("cloud_drivers.yaml")["kinds"].get(kind)
    return None if found is None else _read(found)


def cloud_driver_of(tool: str) -> CloudDriver | None:
    """By the name of a provisioner."""
    kinds = store.read_yaml("cloud_drivers.yaml")["kinds"].values()
    return next((_read(found) for found in kinds if found["tool"] == tool), None)


def _read(found: dict[str, Any]) -> CloudDriver:
    return CloudDriver(
        cloud=found["cloud"],
        path=tuple(found["path"]),
        off=found["off"],
        shown=found["shown"],
        variables=found["variables"],
    )
