"""What rules over nodes say of those that are there, with the operator's own resources as the cluster has them.

They are the rules of files: of each node the same record is filled, whoever tells of it. Nodes that are alike are one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.verify.stack_remnants import keys_of_former_modes
from poolsmith.change.verify.version_skew import other_release
from poolsmith.core.diagnostics import Severity
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.live_resources import CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS
from poolsmith.gpu.nodes.node_facts import first
from poolsmith.guard.rules.setup import (
    driver_and_gpu,
    mig_strategy,
    node_label_values,
    outdated_container_runtime,
    sandboxes_of_nodes,
    sharing_of_nodes,
    vgpu_layouts_of_nodes,
)
from poolsmith.guard.rules.setup.repository_setups import policy_values
from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView, run_setup_rules
from poolsmith.kubernetes.live.api_resources import CONFIG_MAPS
from poolsmith.project.run.setup_nodes import node_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.gpu.nodes.live_nodes import LiveNode
    from poolsmith.guard.rules.setup.setup_view import Place, SetupNode, SetupRule

RULES: tuple[SetupRule, ...] = (
    node_label_values,
    sandboxes_of_nodes,
    sharing_of_nodes,
    vgpu_layouts_of_nodes,
    driver_and_gpu,
    mig_strategy,
    outdated_container_runtime,
)
_WRITTEN = frozenset(("nvidia.com/gfd.timestamp",))
"""Labels by which nodes that are alike differ."""


def judge_node_rules(view: LiveView) -> Iterator[Diagnostic]:
    """Nothing where another release runs: its operator reads other words."""
    plan = view.cluster.plan
    release = plan.cluster.spec.stack.release
    if plan.chart is None or other_release(view):
        return
    catalog, objects = Catalog(), list(_objects(view))
    setup = SetupView(
        catalog=catalog,
        tag=release,
        operator=catalog.releases.near(release),
        nodes=tuple(_nodes(view, catalog)),
        values=policy_values(objects, release),
        objects=tuple(objects),
        namespace=plan.namespace,
    )
    for item in run_setup_rules(RULES, setup).diagnostics:
        if item.severity is not Severity.NOTE:
            yield replace(item, message=f"{item.message} (cluster `{plan.name}`)", subject=plan.name)


def _objects(view: LiveView) -> Iterator[SetupObject]:
    """As they are there; a ConfigMap that was not read, as it is committed."""
    place = _at(view)
    for resource in (CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS):
        yield from (SetupObject(data=dict(body), place=place) for body in view.snapshot.items(resource))
    for item in view.cluster.expected:
        if item.resource == CONFIG_MAPS:
            yield from (SetupObject(data=dict(body), place=place) for body in view.find(item) or (item.body,))


def _nodes(view: LiveView, catalog: Catalog) -> Iterator[SetupNode]:
    """Without labels of a former mode, which are told as what stays behind."""
    alike: dict[tuple[object, ...], list[tuple[LiveNode, dict[str, str]]]] = {}
    former = keys_of_former_modes(view)
    for node in view.nodes:
        if node.carries_gpu(view.cluster.gpus):
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
