"""What rules over descriptions of nodes look at: labels of manifests of provisioners, and of Terraform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.repository.manifest_files import is_terraform
from poolsmith.kubernetes.repository.node_template_marks import labels_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.node_template_marks import LabelMark, TaintMark
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles


_GROUP = "nvidia.com/"
_LABELS = "labels"
_GPU, _NODE_LABELS = "gpu", ("node-label", "nodeLabels")
_OF_HOSTS, _MACHINE = ("nodeLabels", "node_labels"), "machine"
"""Source: budimanjojo/talhelper:pkg/config, NodeLabels; kubernetes-sigs/kubespray:docs/ansible/vars.md, node_labels."""


@record(slots=False)
class LabelledNodes:
    """`labels` are what the nodes get, one value of each; `choices` those of which each node gets one."""

    title: str
    document: CheckedDocument
    labels: tuple[LabelMark, ...]
    taints: tuple[TaintMark, ...] = ()

    def at(self, mark: LabelMark | TaintMark) -> Location:
        return self.document.source.locate(mark.pointer)


def labelled_nodes(model: RepositoryModel, others: Iterable[str]) -> tuple[LabelledNodes, ...]:
    """Of all documents, and of Terraform's among the other files."""
    return (*_of_manifests(model), *_of_hosts(model), *_of_terraform(others, model.files))


def _of_manifests(model: RepositoryModel) -> Iterator[LabelledNodes]:
    texts = {document.path: document.text for document in model.documents}.values()
    if not any(_GROUP in text or (_GPU in text and any(word in text for word in _NODE_LABELS)) for text in texts):
        return
    for template in model.node_templates:
        yield LabelledNodes(
            title=template.title,
            document=template.document,
            labels=(*template.labels, *template.choices),
            taints=(*template.taints, *template.startup),
        )


def _of_hosts(model: RepositoryModel) -> Iterator[LabelledNodes]:
    """Files of tools that make machines, which are no objects: talhelper's nodes, and hosts of Ansible."""
    for document in model.documents:
        if not document.is_object and any(word in document.text for word in _OF_HOSTS):
            marks = tuple(_marks_below(document.data))
            if marks:
                yield LabelledNodes(title=f"the configuration in {document.path}", document=document, labels=marks)


def _marks_below(data: Any) -> Iterator[LabelMark]:
    pending = [("", data)]
    while pending:
        pointer, node = pending.pop()
        for step, item in node.items() if isinstance(node, dict) else enumerate(node if isinstance(node, list) else ()):
            if step in _OF_HOSTS:
                yield from labels_at(item, join(pointer, step), "map")
            elif step != _MACHINE:  # of Talos, a template of nodes
                pending.append((join(pointer, step), item))


def _of_terraform(others: Iterable[str], files: RepositoryFiles) -> Iterator[LabelledNodes]:
    for path in others:
        text = files.text(path) if is_terraform(path) else None
        if text is not None and (_GROUP in text or _LABELS in text):
            from poolsmith.kubernetes.repository.infrastructure_code import terraform_labels  # on demand

            for found in terraform_labels(text, path):
                yield LabelledNodes(title=f"`{found.document.name}`", document=found.document, labels=found.marks)
