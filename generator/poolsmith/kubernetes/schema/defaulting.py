"""Defaults of a definition, applied to a copy as the API server does."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.schema.scalars import Schema


def with_defaults(schema: Schema, value: Any, resolve: Callable[[Schema], Schema]) -> Any:
    """A copy in which absent fields have their defaults; null where it is not allowed counts as absent.

    Only mappings that are there get defaults inside, and a default may itself have fields with defaults.
    """
    if isinstance(value, dict):
        properties: dict[str, Schema] = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        result = {}
        for key, item in value.items():
            child = properties.get(key, additional)
            below = resolve(child) if child is not None else None
            if item is None and below is not None and "default" in below and not below.get("nullable"):
                continue
            result[key] = copy.deepcopy(item) if below is None else with_defaults(below, item, resolve)
        for key, child in properties.items():
            below = resolve(child)
            if key not in result and "default" in below:
                result[key] = with_defaults(below, copy.deepcopy(below["default"]), resolve)
        return result
    if isinstance(value, list):
        items = resolve(schema.get("items", {}))
        return [with_defaults(items, item, resolve) for item in value]
    return value
