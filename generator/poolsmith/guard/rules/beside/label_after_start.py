"""Pods that wait for labels which a node only has once it is up, on pools that an autoscaler grows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, plural
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, pod_template_of, pod_template_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.placement import Placement, Requirement
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

RULE = RuleInfo.of("PSM807")
_KINDS = ("Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Pod")
"""Pods of DaemonSets make no autoscaler add nodes."""
_WRITTEN_LATE = ("nvidia.com/", "feature.node.kubernetes.io/", "profile.node.kubernetes.io/")
_PRODUCT = "nvidia.com/gpu.product"
_UNKNOWN = "not-declared"
"""In the place of what a profile does not declare, in labels that are predicted."""


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    pools = [pool for pool in view.pools if pool.nodes.autoscaled]
    workloads = [document for document in view.tree.objects if document.kind in _KINDS]
    if not pools or not workloads:
        return
    from poolsmith.fleet.operands.pool_nodes import pool_nodes  # on demand
    from poolsmith.guard.ledger.placement import placement_of  # on demand

    nodes = {node.name: node for node in pool_nodes(view.plan, view.catalog.gpus)}
    unborn = {pool.name: _unborn(view, pool, nodes[pool.name]) for pool in view.pools}
    for document in workloads:
        pod = mapping(mapping(pod_template_of(document.data)).get("spec"))
        placement = placement_of(document.kind, pod)
        late = sorted(key for key in placement.labels if is_late(key, view.catalog))
        if not late:
            continue
        without = _without(placement, late)
        fitting = [pool for pool in view.pools if _may_take(view.catalog, pool, placement, without, nodes[pool.name])]
        waiting = [pool for pool in fitting if pool.nodes.autoscaled and not placement.takes(unborn[pool.name])]
        if waiting:
            yield _finding(document, late, waiting, others=len(fitting) > len(waiting))


def is_late(key: str, catalog: Catalog) -> bool:
    """Whether a node has such a label only some time after it has joined."""
    writer = catalog.scheduling.writer_of(key)
    is_told_by_nodes = key.startswith(_WRITTEN_LATE) and writer is not None
    return is_told_by_nodes and writer is not None and not writer.provisioner and not writer.with_the_node


def _unborn(view: NeighbourView, pool: NeighbourPool, node: Node) -> Node:
    """As an autoscaler imagines a node of the pool: the labels of its template."""
    written = {
        mark.key: mark.value or ""
        for template, other in view.pairs
        if other is pool
        for mark in (*template.labels, *template.choices)
    }
    kept = {
        key: value
        for key, value in node.labels.items()
        if key not in pool.discovered and not is_late(key, view.catalog)
    }
    return replace(node, labels={**kept, **written})


def _without(placement: Placement, late: list[str]) -> Placement:
    """What remains of the requirements."""

    def kept(requirements: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
        return tuple(item for item in requirements if item.key not in late)

    terms = placement.terms
    if terms is not None:
        reduced = tuple(replace(term, labels=kept(term.labels)) for term in terms)
        terms = None if any(not (term.labels or term.fields) for term in reduced) else reduced
    return replace(placement, selector=kept(placement.selector), terms=terms)


def _may_take(catalog: Catalog, pool: NeighbourPool, placement: Placement, without: Placement, node: Node) -> bool:
    """Whether the pool's nodes may take the pods once they are up. In doubt they may."""
    if not without.takes(node):
        return False
    product = catalog.gpus.find(pool.plan.profile.spec.gpu.product)
    for item in placement.selector:
        if item.key == _PRODUCT:
            wanted = [catalog.gpus.find(value) for value in item.values]
            if product is not None and all(found is not None and found.product != product.product for found in wanted):
                return False
        elif node.labels.get(item.key, _UNKNOWN) != _UNKNOWN and not item.holds(node.labels):
            return False
    return True


def _finding(
    document: CheckedDocument, late: list[str], waiting: list[NeighbourPool], *, others: bool
) -> Finding[Location]:
    pointer = f"{pod_template_pointer(document.data) or ''}/spec"
    spec = mapping(mapping(pod_template_of(document.data)).get("spec"))
    in_selector = next((key for key in late if key in mapping(spec.get("nodeSelector"))), None)
    where = "affinity/nodeAffinity" if in_selector is None else f"nodeSelector/{in_selector.replace('/', '~1')}"
    names = [pool.name for pool in waiting]
    return Finding(
        message=f"pods of {document.name} require the {plural(len(late), 'label')} {listed(late)}, which nodes of the "
        f"autoscaled {plural(len(names), 'pool')} {listed(names)} get only once they are up: without a node there, "
        "no autoscaler adds one for them",
        place=document.source.locate(f"{pointer}/{where}"),
        help="select by the pool label instead, or let the pool's template carry the label too",
        related=tuple(pool.place("/spec/nodes/autoscaled", "grows from zero") for pool in waiting[:1]),
        severity=Severity.NOTE if others else None,
    )
