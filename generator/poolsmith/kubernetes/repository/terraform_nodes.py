"""Groups of nodes that Terraform makes, as other descriptions of nodes. What is computed is unknown.

Sources: registry.terraform.io: hashicorp/google (google_container_node_pool), hashicorp/aws (aws_eks_node_group),
hashicorp/azurerm (azurerm_kubernetes_cluster_node_pool); terraform-aws-modules/eks, eks_managed_node_groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.hcl_file import COMPUTED
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.kubernetes.repository.infrastructure_code import blocks_of, document_of
from poolsmith.kubernetes.repository.manifest_files import is_terraform
from poolsmith.kubernetes.repository.node_template_marks import TemplateKind
from poolsmith.kubernetes.repository.node_templates import NodeTemplate, template_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.kubernetes.repository.manifest_files import PlacedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_GROUP = "terraform"
_EKS_GROUPS = ("eks_managed_node_groups", "self_managed_node_groups")


def _kind(kind: str, tool: str, labels: str, taints: str, form: str = "objects") -> TemplateKind:
    return TemplateKind(kind=kind, group=_GROUP, tool=tool, labels=((labels, "map"),), taints=((taints, form),))


_EKS = _kind("aws_eks_node_group", "eks", "labels", "taint")
_KINDS = {
    known.kind: known
    for known in (
        _kind("google_container_node_pool", "gke", "node_config/0/labels", "node_config/0/taint"),
        _kind("azurerm_kubernetes_cluster_node_pool", "aks", "node_labels", "node_taints", "pairs"),
        _EKS,
    )
}
_OF_MODULE = _kind("aws_eks_node_group", "eks", "labels", "taints", "objects-or-map")


def terraform_templates(paths: Iterable[str], files: RepositoryFiles) -> Iterator[NodeTemplate]:
    """In the order of the files."""
    for path in paths:
        text = files.text(path) if is_terraform(path) else None
        if text is not None and any(word in text for word in (*_KINDS, *_EKS_GROUPS)):
            for block in blocks_of(text, path):
                yield from _of_block(block)


def _of_block(block: HclBlock) -> Iterator[NodeTemplate]:
    known = _KINDS.get(block.labels[0]) if block.kind == "resource" and block.labels else None
    if known is not None:
        yield _template(_typed(document_of(block), block.data, known.kind, ""), known, "")
    for field in _EKS_GROUPS if block.kind == "module" else ():
        for name in mapping(block.data.get(field)):
            top = join("", field, str(name))
            group = value_at(block.data, (field, name))
            if isinstance(name, str) and isinstance(group, dict):
                yield _template(_typed(document_of(block), block.data, _EKS.kind, top), _OF_MODULE, top)


def _typed(document: PlacedDocument, data: dict[str, Any], kind: str, top: str) -> PlacedDocument:
    """With the type of the group where objects have their kind."""
    mark = {"apiVersion": f"{_GROUP}/v1", "kind": kind}
    steps = top.split("/")[1:]
    if not steps:
        return replace(document, data={**data, **mark})
    field, name = steps[0], steps[1].replace("~1", "/").replace("~0", "~")
    return replace(document, data={**data, field: {**data[field], name: {**data[field][name], **mark}}})


def _template(document: PlacedDocument, known: TemplateKind, top: str) -> NodeTemplate:
    title = document.title if not top else f"{document.title}.{top.rpartition('/')[2]}"
    found = template_of(document, known, f"`{title}`", (), top)
    return replace(found, is_partial=_is_computed(found.body))


def _is_computed(node: Any) -> bool:
    """Whether something that is said of the nodes is computed; how many there are, and where, is not about them."""
    pending = [{key: item for key, item in mapping(node).items() if key in _OF_NODES}]
    while pending:
        item: Any = pending.pop()
        if item is COMPUTED:
            return True
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return False


_OF_NODES = frozenset(
    (
        "node_config",
        "labels",
        "taint",
        "taints",
        "node_labels",
        "node_taints",
        "gpu_driver",
        "vm_size",
        "ami_type",
        "instance_types",
    )
)
