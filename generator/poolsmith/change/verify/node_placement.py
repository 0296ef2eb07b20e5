"""Nodes of a cluster: the pool each belongs to, differences from its profile, labels and taints, and unusable GPUs.

A node belongs to the pool that its label names; a node without the label is compared with what pools look like.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.change.verify.node_facts import facts_of, is_changing
from poolsmith.change.verify.version_skew import other_release
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import NODE_IN_NO_POOL, NODE_NOT_LABELLED, NODE_OTHER_THAN_PROFILE, NOT_READY
from poolsmith.core.diagnostics.message_text import counted, joined, listed
from poolsmith.core.record import record
from poolsmith.fleet.plan.plan import PROVISIONER
from poolsmith.gpu.catalog.live_cluster import read_around, read_stopped
from poolsmith.gpu.catalog.node_labels import (
    CHANGING,
    DEPLOY,
    DEPLOY_DRIVER,
    GPU_PRESENT,
    MIG_STATE,
    PAUSED,
    UPGRADE_ENABLED,
    UPGRADE_STATE,
    VGPU_STATE,
)
from poolsmith.kubernetes.live.api_resources import NODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.gpu.nodes.comparison import Difference
    from poolsmith.gpu.nodes.live_nodes import LiveNode, Taint


_FEW = 4


def judge_nodes(view: LiveView, placing: Placing) -> Iterator[Diagnostic]:
    """Nodes that are wrong alike stand together."""
    lost: dict[str, list[str]] = {}
    wrong: dict[tuple[str, Difference], list[str]] = {}
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
    yield from _named(view)
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


def _named(view: LiveView) -> Iterator[Diagnostic]:
    """Nodes that a pool names and that are not there, and others with its label. Where none of them is there nothing is
    said: then the pool has no nodes yet, or stand-ins."""
    there = {node.name: view.pool_of(node) for node in view.nodes}
    layers = {item.pool.name: item.layers for item in view.cluster.loaded.pools}
    listed_nodes = view.snapshot.listed(NODES)
    for pool in view.cluster.plan.pools:
        missing = [name for name in pool.node_names if name not in there]
        if listed_nodes is None or not listed_nodes.is_known or len(missing) == len(pool.node_names):
            continue
        place = layers[pool.name].locate("/spec/nodes/names")
        strange = sorted(name for name, of in there.items() if of is pool and name not in pool.node_names)
        if missing:
            message = (
                f"{_nodes(missing, pool.name)}, named by its profile, {'is' if len(missing) == 1 else 'are'} not there"
            )
            yield diagnose(NODE_OTHER_THAN_PROFILE, message, place, subject=_of(view, pool.name))
        if strange:
            key = view.cluster.plan.cluster.spec.pool_label
            message = f"{_nodes(strange, pool.name)} by the label `{key}`, and the profile does not name it"
            yield diagnose(NODE_OTHER_THAN_PROFILE, message, place, subject=_of(view, pool.name))


def _is_like(placed: PlacedNode) -> str:
    """Of a node of another pool that is the one finding: all else would follow from it."""
    told = joined([*map(_is, placed.facts), *placed.lacks, *placed.taints], _FEW, "; ")
    return f"is like pool `{placed.seems.name}`, and unlike its own: {told}"


def _is(fact: Difference) -> str:
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


_PREINSTALLED = "pre-installed"
"""What the operator writes where it finds a driver that the host brings."""


def lacks_of(node: LiveNode, pool: PoolPlan, pool_label: str, predicted: Mapping[str, str]) -> Iterator[str]:
    """What it lacks, or has in the place of it; `predicted` are labels that the operator is to write."""
    yield from _lacks(node, pool, pool_label)
    yield from _of_operator(node, pool, predicted)


def _lacks(node: LiveNode, pool: PoolPlan, pool_label: str) -> Iterator[str]:
    for label in pool.labels:
        if label.writer == PROVISIONER and label.key != pool_label and node.labels.get(label.key) != label.value:
            yield f"{_has(node.labels, label.key)}, and `{label.value}` is wanted"
    for taint in pool.taints:
        wanted = (taint.key, taint.value, taint.effect.value)
        if wanted not in node.taints:
            there = ", ".join(f"`{_taint(item)}`" for item in _in_place_of(taint.key, node, pool))
            yield f"has no taint `{_taint(wanted)}`" + (f", and {there} in its place" if there else "")


def _has(labels: Mapping[str, str], key: str) -> str:
    return f"has `{labels[key]}` as label `{key}`" if key in labels else f"has no label `{key}`"


def _of_operator(node: LiveNode, pool: PoolPlan, predicted: Mapping[str, str]) -> Iterator[str]:
    """Labels by which people keep the operator from the node, else those that it is predicted to write, and has not."""
    own = {label.key for label in pool.labels}
    refused = False
    for key, value, means in read_stopped().refusals:
        if node.labels.get(key) == value and key not in own:
            refused = True
            yield f"has `{value}` as label `{key}`: {means}"
    if refused:
        return
    other = [
        key
        for key, value in predicted.items()
        if key not in own and not _is_as_predicted(node.labels.get(key, ""), value, key, pool)
    ]
    for key in other:
        if key in node.labels:
            yield f"{_has(node.labels, key)}, and `{predicted[key]}` is predicted"
    if lacks := [key for key in other if key not in node.labels]:
        yield f"lacks what the operator writes: {counted(len(lacks), 'label')} ({listed(sorted(lacks), _FEW)})"


def _is_as_predicted(live: str, predicted: str, key: str, pool: PoolPlan) -> bool:
    if live == predicted or PAUSED in live:
        return True
    from_host = pool.driver is not None and not pool.driver.managed
    return key == DEPLOY_DRIVER and live == _PREINSTALLED and from_host


def more_taints(node: LiveNode, pool: PoolPlan, passing: tuple[str, ...]) -> Iterator[str]:
    """Those that somebody has set beside the profile's: what tolerates only these does not start there."""
    ours = {(taint.key, taint.effect.value) for taint in pool.taints_of_new_nodes}
    wanted = ((taint.key, taint.value, taint.effect.value) for taint in pool.taints)
    told = {item for taint in wanted if taint not in node.taints for item in _in_place_of(taint[0], node, pool)}
    for taint in node.taints:
        key, _, effect = taint
        if (key, effect) not in ours and taint not in told and not key.startswith(passing):
            yield f"has the taint `{_taint(taint)}`, which the profile does not say"


def _in_place_of(key: str, node: LiveNode, pool: PoolPlan) -> list[Taint]:
    """Taints of a node with the key of one that it lacks, but those that the profile says, too."""
    ours = {(taint.key, taint.value, taint.effect.value) for taint in pool.taints_of_new_nodes}
    return [taint for taint in node.taints if taint[0] == key and taint not in ours]


def _taint(taint: Taint) -> str:
    key, value, effect = taint
    return f"{key}={value}:{effect}"


_MANY = 2
"""Things that are otherwise than a pool's profile says, and no accident."""


@record
class PlacedNode:
    """`pool` is the one of its label; `facts` contradict its profile, `lacks` and `taints` are in words what else is
    otherwise. `like` is another one: the only one of the cluster by whose profile nothing is, where several things
    are by its own."""

    node: LiveNode
    pool: PoolPlan
    facts: tuple[Difference, ...]
    lacks: tuple[str, ...]
    taints: tuple[str, ...]
    like: PoolPlan | None = None

    @property
    def seems(self) -> PoolPlan:
        """The pool whose node it is by all that it says but its label."""
        return self.like or self.pool


class Placing:
    """Holds nodes of a cluster against its pools."""

    def __init__(self, view: LiveView) -> None:
        self._view = view
        self._predicted = _predicted_labels(view)
        self._known = {pool.name: view.cluster.known_of(pool) for pool in view.cluster.plan.pools}

    @cached_property
    def placed(self) -> tuple[PlacedNode, ...]:
        """Those with the label of a pool, by name."""
        return tuple(self._placed())

    def _placed(self) -> Iterator[PlacedNode]:
        for node in self._view.nodes:
            pool = self._view.pool_of(node)
            if pool is not None:
                found = self._held_against(node, pool)
                yield replace(found, like=self.like(node, pool)) if _count(found) >= _MANY else found

    def like(self, node: LiveNode, but: PoolPlan | None = None) -> PoolPlan | None:
        """The only pool by whose profile nothing of a node is otherwise."""
        others = [item for item in self._view.cluster.plan.pools if item is not but]
        alike = [item for item in others if not _count(self._held_against(node, item))]
        return alike[0] if len(alike) == 1 else None

    def _held_against(self, node: LiveNode, pool: PoolPlan) -> PlacedNode:
        cluster = self._view.cluster
        lacks = lacks_of(node, pool, cluster.plan.cluster.spec.pool_label, self._predicted.get(pool.name, {}))
        return PlacedNode(
            node=node,
            pool=pool,
            facts=tuple(facts_of(node, pool, self._known[pool.name])),
            lacks=tuple(lacks),
            taints=tuple(more_taints(node, pool, cluster.marks.passing)),
        )


def _count(found: PlacedNode) -> int:
    return len(found.facts) + len(found.lacks) + len(found.taints)


def _predicted_labels(view: LiveView) -> dict[str, dict[str, str]]:
    """Of each pool, what the operator writes: nothing is said of them where another release of it runs."""
    if other_release(view):
        return {}
    return {
        node.pool: {key: value for key, value in node.labels.items() if key == GPU_PRESENT or key.startswith(DEPLOY)}
        for node in view.cluster.prediction.installation.nodes
    }


_READY = "Ready"
_CHANGES = {MIG_STATE: "the change of the MIG layout", VGPU_STATE: "the change of the vGPU layout"}


def judge_node_health(view: LiveView) -> Iterator[Diagnostic]:
    """Nodes of one pool that are ill alike stand together."""
    ill: dict[tuple[str, str], list[str]] = {}
    for node in view.nodes:
        pool = view.pool_of(node)
        if pool is not None:
            for text in _health_problems(node, pool, view):
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


def _conditions(node: LiveNode) -> Iterator[str]:
    """Those by which the kubelet, a problem detector or a cloud says that something is wrong."""
    facts = read_around()
    for kind, status in sorted(node.conditions.items()):
        bad = (status == "True" and any(word in kind for word in facts.wrong)) or (
            status == "False" and any(word in kind for word in facts.well)
        )
        if bad and kind != _READY:
            yield f"the condition `{kind}` is {status}"


def _health_problems(node: LiveNode, pool: PoolPlan, view: LiveView) -> Iterator[str]:
    if node.conditions.get(_READY, "True") != "True":
        yield "the kubelet is not ready" if node.conditions[_READY] == "False" else "nobody hears of the kubelet"
        return
    yield from _conditions(node)
    for key, what in _CHANGES.items():
        if node.labels.get(key) in CHANGING:
            yield f"{what} is `{node.labels[key]}` (label `{key}`)"
    if node.annotations.get(UPGRADE_ENABLED) == "false" and pool.driver is not None and pool.driver.managed:
        yield f"the operator does not upgrade the driver (annotation `{UPGRADE_ENABLED}: false`)"
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
