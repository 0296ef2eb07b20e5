"""Which values the API server gives to fields of workloads that nobody has set."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store

ANY_ITEM = "*"
_CONTAINERS = ("containers", "ephemeralContainers", "initContainers")


@cache
def filled_in(kind: str) -> dict[tuple[str, ...], Any]:
    """By path in an object of a kind that has a pod template at `spec.template`; ANY_ITEM stands for each of a list."""
    data = store.read_yaml("verify/filled_in.yaml")
    pod = ("spec", "template", "spec")
    found = {tuple(path.split(".")): value for path, value in data["kinds"].get(kind, {}).items()}
    found |= {(*pod, *path.split(".")): value for path, value in data["pod"].items()}
    for field in _CONTAINERS:
        found |= {(*pod, field, ANY_ITEM, *path.split(".")): value for path, value in data["container"].items()}
    return found
