"""The owner of what a controller creates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def owner_reference(resource: Mapping[str, Any]) -> dict[str, Any]:
    """The reference that a controller puts into what it creates."""
    metadata = resource["metadata"]
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": metadata["name"],
        **({"uid": metadata["uid"]} if "uid" in metadata else {}),
        "controller": True,
        "blockOwnerDeletion": True,
    }
