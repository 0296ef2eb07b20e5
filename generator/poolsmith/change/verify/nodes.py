"""Nodes: in which pool each is, whether its facts are those of the profile, and what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import NODE_IN_NO_POOL, NODE_NOT_LABELLED, NODE_OTHER_THAN_PROFILE
from poolsmith.core.diagnostics.listing import counted, joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.gpu_nodes import LiveNode
    from poolsmith.change.verify.node_facts import Fact
    from poolsmith.change.verify.placed import PlacedNode, Placing
    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import PoolPlan

_FEW = 4


def judge_nodes(view: LiveView, placing: Placing) -> Iterator[Diagnostic]:
    """Nodes that are wrong alike stand together."""
    lost: dict[str, list[str]] = {}
    wrong: dict[tuple[str, Fact], list[str]] = {}
    lacking: dict[tuple[str, str], list[str]] = {}
    tainted: dict[tuple[str, str], list[str]] = {}
    elsewhere: dict[tuple[str, str], list[str]] = {}
    for node in view.nodes:
        if view.pool_of(node) is None and node.carries_gpu(view.cluster.gpus):
            lost.setdefault(_why_in_no_pool(view, node, placing.like(node)), []).append(node.name)
    for placed in placing.placed:
        node, pool = placed.node, placed.pool
        if placed.like is not None:
            elsewhere.setdefault((pool.name, _is_like(placed)), []).append(node.name)
            continue
        for fact in placed.facts:
            wrong.setdefault((pool.name, fact), []).append(node.name)
        for text in placed.lacks:
            lacking.setdefault((pool.name, text), []).append(node.name)
        for text in placed.taints:
            tainted.setdefault((pool.name, text), []).append(node.name)
    for why, names in lost.items():
        yield _in_no_pool(view, why, names)
    layers = {item.pool.name: item.layers for item in view.cluster.loaded.pools}
    for (name, text), names in elsewhere.items():
        place, message = layers[name].locate("/metadata/name"), f"{_nodes(names, name)} by its label {text}"
        yield diagnose(NODE_OTHER_THAN_PROFILE, message, place, subject=_of(view, name))
    for (name, fact), names in wrong.items():
        message = f"{_is(fact)}, and the profile says {listed(fact.wanted)}"
        place = layers[name].locate(fact.pointer)
        yield diagnose(NODE_OTHER_THAN_PROFILE, f"{_nodes(names, name)}: {message}", place, subject=_of(view, name))
    for (name, text), names in lacking.items():
        place = layers[name].locate("/metadata/name")
        yield diagnose(NODE_NOT_LABELLED, f"{_nodes(names, name)} {text}", place, subject=_of(view, name))
    for (name, text), names in tainted.items():
        place, message = layers[name].locate("/spec/nodes"), f"{_nodes(names, name)} {text}"
        yield diagnose(NODE_OTHER_THAN_PROFILE, message, place, subject=_of(view, name), severity=Severity.WARNING)


def _is_like(placed: PlacedNode) -> str:
    """Of a node of another pool that is the one finding: all else would follow from it."""
    told = joined([*map(_is, placed.facts), *placed.lacks, *placed.taints], _FEW, "; ")
    return f"is like pool `{placed.seems.name}`, and unlike its own: {told}"


def _is(fact: Fact) -> str:
    return f"{fact.what} is `{fact.live}`"


def _why_in_no_pool(view: LiveView, node: LiveNode, like: PoolPlan | None) -> str:
    key = view.cluster.plan.cluster.spec.pool_label
    seems = f"; by all else it is of pool `{like.name}`" if like is not None else ""
    if key not in node.labels:
        return f"no label `{key}`{seems}"
    return f"`{node.labels[key]}` as label `{key}`, and no pool has that value{seems}"


def _in_no_pool(view: LiveView, why: str, names: list[str]) -> Diagnostic:
    place = view.cluster.of_cluster("/metadata/name")
    message = f"{_few_of(names)} of cluster `{view.cluster.name}` with a GPU, and in no pool: {why}"
    subject = view.cluster.subject("Node", names[0]) if len(names) == 1 else view.cluster.name
    return diagnose(NODE_IN_NO_POOL, message, place, subject=subject)


def _of(view: LiveView, pool: str) -> str:
    return f"{view.cluster.name}/{pool}"


def _nodes(names: list[str], pool: str) -> str:
    return f"{_few_of(names)} of pool `{pool}`"


def _few_of(names: list[str]) -> str:
    if len(names) == 1:
        return f"node `{names[0]}`"
    return f"{counted(len(names), 'node')} ({listed(names, _FEW)})"
