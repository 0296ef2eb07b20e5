"""What the files of other tools say that new nodes will be: their labels, taints and GPUs."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join, reach, reached, value_at
from poolsmith.core.sources.scalars import text_of
from poolsmith.kubernetes.repository.kustomize_roots import changed_files, patch_files
from poolsmith.kubernetes.repository.manifest_files import unfolded
from poolsmith.kubernetes.repository.node_template_marks import (
    MACHINES,
    MACHINES_GROUP,
    LabelMark,
    TaintMark,
    TemplateKind,
    is_filled_later,
    labels_at,
    other_template,
    taints_at,
    template_kinds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.kubernetes.repository.node_template_marks import Places

_MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
_GROUP_END = "."
_REACH_NODES = ("node-role.kubernetes.io/", "node.cluster.x-k8s.io/", "node-restriction.kubernetes.io/")
_REACH_BELOW = (".node.cluster.x-k8s.io/", ".node-restriction.kubernetes.io/")
_MORE_REACH = "additional-sync-machine-labels"
"""Domains of labels that Cluster API hands from machines to nodes, and the flag that adds others. Source:
kubernetes-sigs/cluster-api:internal/controllers/machine/machine_controller_noderef.go, getManagedLabels."""


@record
class NodeTemplate:
    """One description of nodes.

    `names` are those that a profile may call it by. `labels_at` and `taints_at` are pointers to where labels and taints
    belong. `choices` are labels of which each node gets one of several values. `is_partial`: more is said elsewhere,
    so that what is absent here may be there. `announces`: it is what an autoscaler expects, and makes no node.
    """

    document: CheckedDocument
    title: str
    tool: str
    names: tuple[str, ...]
    top: str
    labels: tuple[LabelMark, ...]
    choices: tuple[LabelMark, ...]
    taints: tuple[TaintMark, ...]
    startup: tuple[TaintMark, ...]
    labels_at: str
    taints_at: str
    startup_at: str | None
    is_partial: bool = False
    announces: bool = False
    withheld: frozenset[str] = frozenset()
    """Labels of its machines that their nodes don't get."""

    def at(self, pointer: str, note: str | None = None) -> Location:
        return self.document.source.locate(pointer, note)

    @property
    def body(self) -> Any:
        """What describes the nodes: the document, or one of its groups."""
        return reach(self.document.data, self.top)[0]


def node_templates(tree: CheckedTree) -> tuple[NodeTemplate, ...]:
    """In the order of the files."""
    changed, patches = changed_files(tree), patch_files(tree)
    found: list[NodeTemplate] = []
    machines = list(_machines(tree))
    hands_all = any(_MORE_REACH in document.text for document in tree.documents) if machines else True
    for document in tree.documents:
        is_partial = document.path in changed or document.path in patches or _is_patch(document.data)
        for template in _templates(document):
            known = _with_machines(template, machines, hands_all=hands_all)
            found.append(replace(known, is_partial=is_partial or _is_filled_later(template)))
    return tuple(found)


def _is_filled_later(template: NodeTemplate) -> bool:
    """Whether another tool fills in some of the labels or taints."""
    places = (template.labels_at, template.taints_at, template.startup_at)
    return any(is_filled_later(reach(template.document.data, place)[0]) for place in places if place is not None)


def _templates(document: CheckedDocument) -> Iterator[NodeTemplate]:
    data = document.data
    if not isinstance(data, dict):
        return
    if not document.is_object:
        if (kind := _kindless(data)) is not None:
            yield template_of(document, kind, f"the configuration in {document.path}", (_stem(document.path),), "")
        return
    for top, body in unfolded(document):
        yield from _of_object(document, top, body)
        path = _WITHIN.get((text_of(body.get("kind")), text_of(body.get("apiVersion")).partition("/")[0]))
        for at, inner in reached(body, path) if path is not None else ():
            if isinstance(inner, dict):
                yield from _of_object(document, f"{top}{at}", inner)


_WITHIN = {
    ("AzureASOManagedMachinePool", "infrastructure.cluster.x-k8s.io"): ("spec", "resources", "*"),
    ("Object", "kubernetes.crossplane.io"): ("spec", "forProvider", "manifest"),
}
"""Objects that hold others: where. Source: kubernetes-sigs/cluster-api-provider-azure:api/v1alpha1,
AzureASOManagedMachinePoolSpec.resources; crossplane-contrib/provider-kubernetes:apis, ObjectParameters.manifest."""


@cache
def _by_kind() -> dict[tuple[str, str], list[TemplateKind]]:
    found: dict[tuple[str, str], list[TemplateKind]] = {}
    for known in template_kinds():
        found.setdefault((known.kind, known.group), []).append(known)
    return found


def _of_object(document: CheckedDocument, top: str, body: dict[str, Any]) -> Iterator[NodeTemplate]:
    name = text_of(value_at(body, ("metadata", "name")))
    kind, group = text_of(body.get("kind")), text_of(body.get("apiVersion")).partition("/")[0]
    for known in _by_kind().get((kind, group), ()):
        if not known.within:
            yield template_of(document, known, f"{kind}/{name}" if name else kind, (name,), top)
        for field in known.within:
            groups = body.get(field)
            for index, item in enumerate(groups if isinstance(groups, list) else ()):
                own = text_of(item.get("name")) if isinstance(item, dict) else ""
                title = f"node group `{own}` of {kind}/{name}"
                yield template_of(document, known, title, (own,), join(top, field, index))
    if kind in MACHINES and group == MACHINES_GROUP and _announces(body):
        title = f"what {kind}/{name} announces to an autoscaler"
        yield replace(template_of(document, other_template("capacity"), title, (name,), top), announces=True)


def _kindless(data: dict[str, Any]) -> TemplateKind | None:
    machine = data.get("machine")
    if isinstance(machine, dict) and machine.get("type") not in ("controlplane", "init"):
        return other_template("talos")
    if isinstance(data.get("provisioner"), dict) and "snippets" in data:
        return other_template("expected")
    return other_template("agentFile") if "node-label" in data or "node-taint" in data else None


def _is_patch(data: Any) -> bool:
    """Of a machine of Talos: the whole configuration says its type."""
    return isinstance(data, dict) and isinstance(data.get("machine"), dict) and "type" not in data["machine"]


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(_GROUP_END)[0]


def _announces(body: dict[str, Any]) -> bool:
    """Whether an autoscaler is to begin with no node, or is told what a node is."""
    annotations = value_at(body, ("metadata", "annotations"))
    if not isinstance(annotations, dict):
        return False
    prefix = "capacity.cluster-autoscaler.kubernetes.io/"
    told = any(isinstance(key, str) and key.startswith(prefix) for key in annotations)
    return told or text_of(annotations.get(_MIN_SIZE)) == "0"


def template_of(
    document: CheckedDocument, kind: TemplateKind, title: str, names: tuple[str, ...], top: str
) -> NodeTemplate:
    wants = list(_requirements(document.data, top)) if kind.tool == "karpenter" else []
    fixed = tuple(values[0] for values in wants if len(values) == 1)
    return NodeTemplate(
        document=document,
        title=title,
        tool=kind.tool,
        names=tuple(name for name in names if name),
        top=top,
        labels=(*_all_labels(document.data, top, kind.labels), *fixed),
        choices=tuple(value for values in wants if len(values) > 1 for value in values),
        taints=tuple(_all_taints(document.data, top, kind.taints)),
        startup=tuple(_all_taints(document.data, top, kind.startup)),
        labels_at=f"{top}/{kind.labels[0][0]}",
        taints_at=f"{top}/{kind.taints[0][0]}",
        startup_at=f"{top}/{kind.startup[0][0]}" if kind.startup else None,
    )


def _all_labels(data: Any, top: str, places: Places) -> Iterator[LabelMark]:
    for path, form in places:
        node, is_there = reach(data, f"{top}/{path}")
        if is_there:
            yield from labels_at(node, f"{top}/{path}", form)


def _all_taints(data: Any, top: str, places: Places) -> Iterator[TaintMark]:
    for path, form in places:
        node, is_there = reach(data, f"{top}/{path}")
        if is_there:
            yield from taints_at(node, f"{top}/{path}", form)


def _requirements(data: Any, top: str) -> Iterator[list[LabelMark]]:
    """A requirement with the operator In is a label of the nodes; Karpenter sets it."""
    for path in ("spec/template/spec/requirements", "spec/requirements"):
        listed, is_there = reach(data, f"{top}/{path}")
        for index, item in enumerate(listed if is_there and isinstance(listed, list) else ()):
            if not isinstance(item, dict) or item.get("operator") != "In" or not isinstance(item.get("values"), list):
                continue
            place = join(f"{top}/{path}", index, "values")
            key = text_of(item.get("key"))
            yield [
                replace(mark, pointer=join(place, position))
                for position, value in enumerate(item["values"])
                for mark in labels_at({key: value}, place, "map")
            ]


@record
class _Machines:
    """Machines of Cluster API, and the bootstrap template that they are made with."""

    name: str
    template: str
    kind: str
    labels: tuple[LabelMark, ...]
    taints: tuple[TaintMark, ...]
    startup: tuple[TaintMark, ...]


def _machines(tree: CheckedTree) -> Iterator[_Machines]:
    for document in tree.objects:
        for top, body in unfolded(document):
            group = text_of(body.get("apiVersion")).partition("/")[0]
            if body.get("kind") not in MACHINES or group != MACHINES_GROUP:
                continue
            reference = value_at(body, ("spec", "template", "spec", "bootstrap", "configRef"))
            if not isinstance(reference, dict):
                continue
            path = f"{top}/spec/template/spec/taints"
            listed = value_at(body, ("spec", "template", "spec", "taints"))
            marks = list(taints_at(listed, path, "objects"))
            once = {
                join(path, index)
                for index, item in enumerate(listed if isinstance(listed, list) else ())
                if isinstance(item, dict) and item.get("propagation") == "OnInitialization"
            }
            labels = value_at(body, ("spec", "template", "metadata", "labels"))
            yield _Machines(
                name=text_of(value_at(body, ("metadata", "name"))),
                template=text_of(reference.get("name")),
                kind=text_of(reference.get("kind")),
                labels=tuple(labels_at(labels, "", "map")),
                taints=tuple(mark for mark in marks if mark.pointer not in once),
                startup=tuple(mark for mark in marks if mark.pointer in once),
            )


def _reaches_nodes(key: str) -> bool:
    return key.startswith(_REACH_NODES) or any(domain in key for domain in _REACH_BELOW)


def _with_machines(template: NodeTemplate, machines: Iterable[_Machines], *, hands_all: bool) -> NodeTemplate:
    """With what its machines add: names to call it by, taints, and labels that reach the nodes."""
    if template.tool != "cluster-api" or template.announces:
        return template
    kind = text_of(template.body.get("kind")) if isinstance(template.body, dict) else ""
    using = [item for item in machines if item.template in template.names and item.kind == kind]
    own = {mark.key for mark in template.labels}
    added = [mark for item in using for mark in item.labels if mark.key not in own]
    reach_nodes = [mark for mark in added if hands_all or _reaches_nodes(mark.key)]
    there = {mark.identity for mark in template.taints}
    return replace(
        template,
        names=(*template.names, *(item.name for item in using if item.name)),
        labels=(
            *template.labels,
            *(replace(mark, pointer=template.labels_at) for mark in reach_nodes),
        ),
        withheld=frozenset(mark.key for mark in added if mark not in reach_nodes),
        taints=(
            *template.taints,
            *(
                replace(mark, pointer=template.taints_at)
                for item in using
                for mark in (*item.taints, *item.startup)
                if mark.identity not in there
            ),
        ),
    )
