"""The spec of a custom resource, asked field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping


class ResourceSpec:
    """One resource as the API server stores it. Never changed."""

    def __init__(self, resource: Mapping[str, Any]) -> None:
        self.resource = resource
        self.name = str(resource["metadata"]["name"])
        self.spec: dict[str, Any] = resource.get("spec") or {}

    def at(self, *path: str) -> dict[str, Any]:
        """A block, empty where there is none."""
        block = value_at(self.spec, path)
        return block if isinstance(block, dict) else {}

    def items(self, *path: str) -> list[Any]:
        """A list, empty where there is none."""
        found = value_at(self.spec, path)
        return found if isinstance(found, list) else []

    def text(self, *path: str) -> str:
        """A string, empty where there is none."""
        value = value_at(self.spec, path)
        return "" if value is None else str(value)

    def flag(self, *path: str) -> bool:
        """A boolean that is false unless it says true."""
        return value_at(self.spec, path) is True
