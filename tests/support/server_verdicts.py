"""Objects of every kind of custom resource with one thing wrong, whose verdicts of a real API server are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from support.damaged_objects import Damaged, at, complete, damaged, put, short
from support.recordings import recording

MOST = 9_001
FOLDERS = ("argo-cd/crds/", "flux/crds/", "node-feature-discovery/crds/", "confidential-containers/v0.7.0/ccruntimes")


def definitions(release: str) -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of a release, and of its neighbours."""
    operator, neighbours = recording("gpu_operator"), recording("neighbours")
    found = [item for key in operator.below(f"gpu-operator/{release}/crds") for item in operator[key]]
    found += [item for key in neighbours if key.startswith(FOLDERS) for item in neighbours[key]]
    return [item for item in found if item and item["kind"] == "CustomResourceDefinition"]


def damaged_resources(release: str, kind: str) -> Iterator[tuple[Damaged, dict[str, Any]]]:
    """Each damage of an object of a kind, and the object, with what else the schema requires."""
    (spec,) = (item["spec"] for item in definitions(release) if item["spec"]["names"]["kind"] == kind)
    (version,) = (item for item in spec["versions"] if item["served"])
    schema = short(version["schema"]["openAPIV3Schema"])
    name = "gpu-cluster" if kind == "GPUCluster" else "a"
    base = {"apiVersion": f"{spec['group']}/{version['name']}", "kind": kind, "metadata": {"name": name}, "spec": {}}
    for item in islice(damaged(base, schema, _itself, grown=True), MOST):
        if not item.path:
            yield item, complete(item.body, schema, _itself)
            continue
        whole = complete(put(item.body, item.path, None), schema, _itself)
        yield item, put(whole, item.path, at(item.body, item.path))


def _itself(schema: dict[str, Any]) -> dict[str, Any]:
    return schema
