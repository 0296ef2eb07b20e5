"""The ledger of Kubernetes objects on the nodes of pools.

The privileges of a template or role are computed once per run, and once for all runs that share a TemplateMemory.
"""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from poolsmith.core.latest import Latest
from poolsmith.core.record import replace
from poolsmith.core.sources.pod_template import account_of, mapping, pod_template_of, word
from poolsmith.gpu.catalog.node_labels import SelectedNodes
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE, Holder, Ledger
from poolsmith.guard.ledger.placement import placement_of
from poolsmith.guard.ledger.reach import reach_of
from poolsmith.guard.ledger.workload_privileges import (
    KINDS_OF_RIGHTS,
    AccountRights,
    name_of,
    namespace_of,
    pod_privileges,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from poolsmith.fleet.operands.expansion import Installation, KubernetesObject, Node
    from poolsmith.guard.ledger.ledger import Row
    from poolsmith.guard.ledger.placement import Placement
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.guard.ledger.workload_privileges import Held

    _Signature = tuple[Hashable, ...]

_REMEMBERED, _REMEMBERED_RIGHTS = 2_000, 32
"""Workloads, and sets of roles and bindings."""


class TemplateMemory:
    """What workloads came to before, by their identity."""

    def __init__(self) -> None:
        self._known = Latest(_REMEMBERED)
        """With what the key is made of: as long as that lives, nothing else has its identity."""

    def privileges(self, workload: KubernetesObject, template: Mapping[str, Any]) -> tuple[Held, ...]:
        return self._known.of(id(workload), lambda: (workload, pod_privileges(template)))[1]

    def placement(
        self, workload: KubernetesObject, template: Mapping[str, Any], classes: Mapping[str, KubernetesObject]
    ) -> Placement:
        pod = mapping(template.get("spec"))
        own = classes.get(word(pod.get("runtimeClassName")))
        key = id(workload), id(own)
        return self._known.of(key, lambda: (placement_of(workload["kind"], pod, own), workload, own))[0]

    def rights(self, objects: Sequence[KubernetesObject]) -> AccountRights:
        return AccountRights(objects)

    def rows(self, held: tuple[Held, ...], rights: tuple[Privilege, ...]) -> tuple[Row, ...]:
        """By container, then by privilege; the rights are the whole pod's."""
        own = [(container, token, reach_of(token)) for container, token in held]
        own += [("", token, reach_of(token)) for token in rights]
        return tuple(sorted(own, key=_row_order))


class PredictedMemory(TemplateMemory):
    """Of installations that are much alike, as those of one fleet: what is equal in them is one object."""

    def __init__(self) -> None:
        super().__init__()
        self._rights = Latest(_REMEMBERED_RIGHTS)
        self._rows = Latest(_REMEMBERED)

    def rights(self, objects: Sequence[KubernetesObject]) -> AccountRights:
        """The same for the same roles and bindings."""
        of_rights = [item for item in objects if item.get("kind") in KINDS_OF_RIGHTS]
        return self._rights.of(tuple(map(id, of_rights)), lambda: (of_rights, AccountRights(of_rights)))[1]

    def rows(self, held: tuple[Held, ...], rights: tuple[Privilege, ...]) -> tuple[Row, ...]:
        return self._rows.of((id(held), id(rights)), lambda: (held, rights, TemplateMemory.rows(self, held, rights)))[2]


def installed_ledger(installation: Installation, memory: TemplateMemory | None = None) -> Ledger:
    """The ledger of all that is installed, on its pools; without origins."""
    pools: dict[str, list[Node]] = {}
    for node in installation.nodes:
        pools.setdefault(node.pool or node.name, []).append(node)
    return ledger_of(installation.objects, pools, memory)


def ledger_of(
    objects: Iterable[KubernetesObject],
    pools: Mapping[str, Sequence[Node]],
    memory: TemplateMemory | None = None,
) -> Ledger:
    """The privileges of all workloads among the objects, on each pool that has a node which takes them.

    The nodes have the labels that they have in the end. A workload that nothing ties to nodes stands under ANY_NODE
    alone; one that no node of the pools takes under NO_KNOWN_NODE: it exists, and a label may be all that it lacks.
    """
    objects = tuple(objects)
    memory = memory or TemplateMemory()
    rights = memory.rights(objects)
    classes = {name_of(item): item for item in objects if item.get("kind") == "RuntimeClass"}
    templates = [(item, template) for item in objects if (template := pod_template_of(item)) is not None]
    placements = [memory.placement(item, template, classes) for item, template in templates]
    landing = _Landing(pools, placements)
    unknown: set[str] = set()
    workloads = []
    for (item, template), placement in zip(templates, placements, strict=True):
        namespace, account = namespace_of(item), account_of(template)
        held, missing = rights.of(namespace, account)
        unknown.update(missing)
        rows = memory.rows(memory.privileges(item, template), held)
        name = f"{item['kind']}/{name_of(item)}"
        workloads.append(Holder(namespace, name, rows, landing.pools_of(placement)))
    return _ledger(workloads, unknown)


def _row_order(row: Row) -> tuple[str, str, tuple[str, ...]]:
    return row[0], row[1].name, row[1].arguments


def _ledger(workloads: Iterable[Holder], unknown: Iterable[str]) -> Ledger:
    ordered = tuple(sorted(workloads, key=attrgetter("namespace", "workload")))
    landing = {workload.key: workload.pools for workload in ordered}
    found = Ledger((), tuple(sorted(unknown)), landing, ordered)
    return found if len(landing) == len(ordered) else replace(Ledger.of(found.lines, unknown), landing=landing)


class _Landing:
    """Where workloads land. Nodes that differ in nothing that a workload looks at are asked once."""

    def __init__(self, pools: Mapping[str, Sequence[Node]], placements: Sequence[Placement]) -> None:
        self._keys = sorted({key for placement in placements for key in placement.labels})
        self._by_name = any(placement.looks_at_names for placement in placements)
        self._nodes: dict[_Signature, Node] = {}
        self._names = sorted(pools)
        self._pools: defaultdict[_Signature, set[int]] = defaultdict(set)
        for index, name in enumerate(self._names):
            for node in pools[name]:
                self._pools[self._signature(node)].add(index)
        self._signatures = tuple(self._nodes)
        self._selected = SelectedNodes([node.labels for node in self._nodes.values()])
        self._found: dict[Placement, tuple[str, ...]] = {}

    def pools_of(self, placement: Placement) -> tuple[str, ...]:
        if placement not in self._found:
            self._found[placement] = self._asked(placement)
        return self._found[placement]

    def _asked(self, placement: Placement) -> tuple[str, ...]:
        if placement.ties_to_nothing:
            return (ANY_NODE,)
        fitting = map(self._signatures.__getitem__, self._selected.of(placement.surely_labelled))
        taking = (signature for signature in fitting if placement.takes(self._nodes[signature]))
        found = sorted({index for signature in taking for index in self._pools[signature]})
        return tuple(map(self._names.__getitem__, found)) or (NO_KNOWN_NODE,)

    def _signature(self, node: Node) -> _Signature:
        taints = tuple((taint.get("key"), taint.get("value"), taint.get("effect")) for taint in node.taints)
        labels = tuple(node.labels.get(key) for key in self._keys)
        signature = (*labels, taints, node.name if self._by_name else "")
        self._nodes.setdefault(signature, node)
        return signature
