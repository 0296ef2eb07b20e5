"""The custom resources that a release of the operator defines."""

from __future__ import annotations

from typing import Any

from poolsmith.catalog import store
from poolsmith.catalog.packs import remembered
from poolsmith.record import record


@record
class CustomResource:
    """One kind, with its structural schema."""

    kind: str
    api_version: str
    plural: str
    scope: str
    schema: dict[str, Any]


@remembered
def read_crds(release: str) -> dict[str, CustomResource]:
    """The kinds of a release; empty when the catalog has no schemas of it."""
    if release not in store.names("crds"):
        return {}
    kinds = store.read_json(f"crds/{release}.json")["kinds"]
    return {
        kind: CustomResource(
            kind=kind,
            api_version=entry["apiVersion"],
            plural=entry["plural"],
            scope=entry["scope"],
            schema=entry["schema"],
        )
        for kind, entry in kinds.items()
    }
