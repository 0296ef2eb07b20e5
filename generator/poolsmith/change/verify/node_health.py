"""Nodes whose GPUs can't be used, as they and their operands say themselves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from poolsmith.change.verify.node_facts import is_changing
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import NOT_READY
from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.gpu.catalog.node_labels import UPGRADE_STATE
from poolsmith.gpu.catalog.stopped import read_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.gpu_nodes import LiveNode
    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import PoolPlan

_FEW = 4
_READY = "Ready"


def judge_node_health(view: LiveView) -> Iterator[Diagnostic]:
    """Nodes of one pool that are ill alike stand together."""
    ill: dict[tuple[str, str], list[str]] = {}
    for node in view.nodes:
        pool = view.pool_of(node)
        if pool is not None:
            for text in _of(node, pool, view):
                ill.setdefault((pool.name, text), []).append(node.name)
    layers = {item.pool.name: item.layers for item in view.cluster.loaded.pools}
    for (name, text), names in ill.items():
        message = f"{text} on {counted(len(names), 'node')} ({listed(names, _FEW)}) of pool `{name}`"
        place = layers[name].locate("/metadata/name")
        yield diagnose(NOT_READY, message, place, subject=f"{view.cluster.name}/{name}")


def upgrades(view: LiveView) -> str:
    """How many nodes are in which state of a driver upgrade; empty where nothing is upgraded."""
    states = Counter(state for node in view.nodes if (state := node.labels.get(UPGRADE_STATE)))
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items()))


def _of(node: LiveNode, pool: PoolPlan, view: LiveView) -> Iterator[str]:
    if node.conditions.get(_READY, "True") != "True":
        yield "the kubelet is not ready"
        return
    for key, value, of in read_stopped().failures:
        if node.labels.get(key) == value:
            yield f"{of} failed (label `{key}`)"
    if is_changing(node):
        return
    offered = node.offered(view.cluster.gpus)
    for name, number in sorted(offered.items()):
        usable = node.allocatable.get(name, number)
        if usable.isdigit() and number.isdigit() and int(usable) < int(number):
            yield f"the plugin holds {int(number) - int(usable)} of {number} `{name}` for unhealthy"
    wanted = view.cluster.known_of(pool).offers
    offers_none = bool(node.allocatable) and set(offered.values()) <= {"0"}
    if wanted and offers_none and pool.name in view.served:
        yield f"no {listed(sorted(wanted))} is offered, though the device plugin is ready,"
