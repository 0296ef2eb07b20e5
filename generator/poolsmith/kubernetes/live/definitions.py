"""Definitions of custom resources without the schemas of others: those are most of what a cluster has to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pod_template import mapping, mappings

if TYPE_CHECKING:
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

OPERATOR_GROUP = "nvidia.com"


def light_definition(body: KubernetesObject) -> KubernetesObject:
    """As it is for the operator's group; of another one nobody looks at the schemas."""
    spec = mapping(body.get("spec"))
    if spec.get("group") == OPERATOR_GROUP:
        return body
    versions = [{key: item[key] for key in item if key != "schema"} for item in mappings(spec.get("versions"))]
    return {**body, "spec": {**spec, "versions": versions}}
