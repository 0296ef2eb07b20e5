"""No Node objects in a synced tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo(
    code="PSM510",
    name="node-object",
    applies_to="manifest",
    what="Files that GitOps applies contain an object of kind Node.",
    why=(
        "Pruning the object deletes the node from the cluster, and its pods are evicted. Its labels also conflict "
        "with those of the kubelet, the provisioner and Node Feature Discovery."
    ),
    fix="let the provisioner or a NodeFeatureRule set labels, and the provisioner set taints",
    bad="apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-1\n",
    good="apiVersion: nfd.k8s-sigs.io/v1alpha1\nkind: NodeFeatureRule\nmetadata:\n  name: pool-a100\n",
)


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    for document in tree.objects:
        if document.kind == "Node" and document.api_version == "v1":
            yield Finding(
                message=f"{document.name} is a Node object, and pruning it removes the node",
                place=document.source.locate("/kind"),
                subject=document.name,
            )
