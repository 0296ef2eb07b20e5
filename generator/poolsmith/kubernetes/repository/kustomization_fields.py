"""The fields of a kustomization with their types, and their names in whichever case somebody writes them."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store

Type = Any
"""A word of `data/kustomize/kustomization.yaml`, a mapping of fields, or a list with the type of its items."""


@cache
def kustomization_fields() -> dict[str, Type]:
    found: dict[str, Type] = store.table("kustomize/kustomization.yaml")["fields"]
    return found


@cache
def _names() -> dict[str, str]:
    """Go reads the names of fields in any case."""
    return {name.lower(): name for name in kustomization_fields()}


def in_their_names(data: Any) -> Any:
    """A kustomization with its fields as kustomize writes them, in whichever case somebody did."""
    if not isinstance(data, dict) or all(key in kustomization_fields() for key in data):
        return data
    return {_names().get(str(key).lower(), key): value for key, value in data.items()}
