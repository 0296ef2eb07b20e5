"""What the rules over a setup say of a live cluster: of its nodes, with the operator's own resources as they are there.

They are the rules of files: of each node the same record is filled, whoever tells of it. Nodes that are alike are one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.verify.expected import Bringer
from poolsmith.change.verify.stack_remnants import keys_of_former_modes
from poolsmith.change.verify.version_skew import other_release
from poolsmith.core.diagnostics import Severity
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.live_resources import CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.gpu.nodes.node_facts import first
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.setup.repository_setups import policy_values
from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView, run_setup_rules
from poolsmith.guard.rules.surfaces import not_live
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS, NODES
from poolsmith.project.run.setup_nodes import node_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.change.verify.node_placement import Placing
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.gpu.nodes.live_nodes import LiveNode
    from poolsmith.guard.rules.setup.setup_view import Place, SetupNode

_ASKED = frozenset((NODES, CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS))
"""Lists that the rules ask."""
_WRITTEN = frozenset(("nvidia.com/gfd.timestamp",))
"""Labels by which nodes that are alike differ."""


def judge_node_rules(view: LiveView, placing: Placing) -> Iterator[Diagnostic]:
    """Nothing where another release runs: its operator reads other words; nor where a list was not read, since the rules
    take what is missing for what nobody made. Nodes with the label of another pool are reported as such, and what
    follows from the label is not."""
    plan = view.cluster.plan
    release = plan.cluster.spec.stack.release
    if plan.chart is None or other_release(view) or not _ASKED.isdisjoint(item.resource for item in view.snapshot.unread):
        return
    catalog, objects = Catalog(), list(_objects(view))
    strayed = {item.node.name for item in placing.placed if item.like is not None}
    setup = SetupView(
        catalog=catalog,
        tag=release,
        operator=catalog.releases.near(release),
        distribution=plan.cluster.spec.kubernetes.distribution,
        nodes=tuple(_nodes(view, catalog, strayed)),
        values=policy_values(objects, release),
        objects=tuple(objects),
        namespace=plan.namespace,
    )
    elsewhere = not_live()
    rules = tuple(rule for rule in SETUP_RULES if rule.RULE.code not in elsewhere)
    for item in run_setup_rules(rules, setup).diagnostics:
        if item.severity is not Severity.NOTE:
            yield replace(item, message=f"{item.message} (cluster `{plan.name}`)", subject=plan.name)


def _objects(view: LiveView) -> Iterator[SetupObject]:
    """As they are there; a ConfigMap that was not read, as it is committed, and none that the operator makes."""
    place = _at(view)
    for resource in (CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS):
        yield from (SetupObject(data=dict(body), place=place) for body in view.snapshot.items(resource))
    for item in view.cluster.expected:
        if item.resource == CONFIG_MAPS and item.bringer is not Bringer.OPERATOR:
            yield from (SetupObject(data=dict(body), place=place) for body in view.find(item) or (item.body,))


def _nodes(view: LiveView, catalog: Catalog, strayed: Collection[str]) -> Iterator[SetupNode]:
    """Without labels of a former mode, which are told as what stays behind."""
    alike: dict[tuple[object, ...], list[tuple[LiveNode, dict[str, str]]]] = {}
    former = keys_of_former_modes(view)
    for node in view.nodes:
        if node.carries_gpu(view.cluster.gpus) and node.name not in strayed:
            pool = view.pool_of(node)
            passed = _WRITTEN | former[pool.name] if pool is not None else _WRITTEN
            labels = {key: value for key, value in node.labels.items() if key not in passed}
            of_vendor = frozenset(item for item in labels.items() if "nvidia.com/" in item[0])
            known = (first(node.facts.runtimes), first(node.facts.runtime_versions), first(node.facts.architectures))
            alike.setdefault((of_vendor, known, node.facts.system_id), []).append((node, labels))
    for nodes in alike.values():
        node, labels = nodes[0]
        name = node.name + (f" and {len(nodes) - 1} like it" if len(nodes) > 1 else "")
        yield node_of(name, labels, node.facts, _at(view), catalog)


def _at(view: LiveView) -> Place:
    """What is on a cluster stands in no file: the profile of the cluster is where people go on."""

    def place(_pointer: str, note: str | None = None) -> Location:
        return replace(view.cluster.of_cluster("/spec/stack"), note=note)

    return place
