"""The custom resources that a release of the operator defines."""

from __future__ import annotations

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.kubernetes.server.custom_resource import CustomResource


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
