"""What the files of provisioners say that a new node will be: Karpenter, Cluster API, eksctl, Talos, Terraform, others.

Which labels and taints stand where in each tool's files is read in `kubernetes`; here they are facts of a node. Where
nodes get one of several values, or another tool fills the value in, it is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.gpu.catalog.gpus import instance_types
from poolsmith.gpu.nodes.label_facts import facts_of_labels
from poolsmith.gpu.nodes.machine_gpus import (
    ACCELERATOR,
    claims_of_labels,
    gpu_claims,
    gpus_of_claims,
    product_of_accelerator,
)
from poolsmith.gpu.nodes.node_facts import NodeFacts, Told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.nodes.machine_gpus import GpuClaim
    from poolsmith.kubernetes.repository.node_template_marks import LabelMark, TaintMark
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate


def facts_of_template(template: NodeTemplate, gpus: Gpus) -> NodeFacts:
    """Pointers are into the template's document."""
    facts = _facts(template.labels, template.labels_at, gpu_claims(template, instance_types()), gpus)
    return replace(facts, taints=template.taints, startup_taints=template.startup)


def facts_of_marks(
    labels: Iterable[LabelMark], gpus: Gpus, labels_at: str = "", taints: tuple[TaintMark, ...] = ()
) -> NodeFacts:
    """Of labels and taints that stand by themselves, as in a block of Terraform, or on a node."""
    marks = tuple(labels)
    by_key: dict[str, list[tuple[str, str]]] = {}
    for mark in marks:
        if mark.value is not None:
            by_key.setdefault(mark.key, []).append((mark.value, mark.pointer))
    return replace(_facts(marks, labels_at, claims_of_labels(by_key, instance_types()), gpus), taints=taints)


def _facts(marks: Iterable[LabelMark], labels_at: str, claims: Iterable[GpuClaim], gpus: Gpus) -> NodeFacts:
    """Labels of feature discovery count before what the provider says of its machines."""
    values: dict[str, set[str | None]] = {}
    places: dict[str, str] = {}
    for mark in marks:
        values.setdefault(mark.key, set()).add(mark.value)
        places.setdefault(mark.key, mark.pointer)
    labels = {key: value for key, found in values.items() if len(found) == 1 and (value := next(iter(found)))}
    facts = facts_of_labels(labels, labels_at, places)
    products, counts = gpus_of_claims(claims, gpus)
    accelerator = product_of_accelerator(labels)
    named = (Told(accelerator, facts.place_of(ACCELERATOR)),) if accelerator else ()
    return replace(facts, products=(*facts.products, *named, *products), counts=(*facts.counts, *counts))
