"""Nodes: in which pool each is, whether its facts are those of the profile, and what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.node_labels import DEPLOY, DEPLOY_DRIVER, GPU_PRESENT, PAUSED
from poolsmith.catalog.stopped import read_stopped
from poolsmith.diagnostics import Severity, diagnose
from poolsmith.diagnostics.codes.live import NODE_IN_NO_POOL, NODE_NOT_LABELLED, NODE_OTHER_THAN_PROFILE
from poolsmith.diagnostics.listing import counted, listed
from poolsmith.plan.plan import PROVISIONER
from poolsmith.verify.release import other_release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.live.nodes import LiveNode, Taint
    from poolsmith.plan.plan import PoolPlan
    from poolsmith.verify.node_facts import Fact
    from poolsmith.verify.placed import PlacedNode
    from poolsmith.verify.view import LiveView

_FEW = 4
_PREINSTALLED = "pre-installed"
"""What the operator writes where it finds a driver that the host brings."""


def judge_nodes(view: LiveView) -> Iterator[Diagnostic]:
    """Nodes that are wrong alike stand together."""
    lost: dict[str, list[str]] = {}
    wrong: dict[tuple[str, Fact], list[str]] = {}
    lacking: dict[tuple[str, str], list[str]] = {}
    tainted: dict[tuple[str, str], list[str]] = {}
    elsewhere: dict[tuple[str, str], list[str]] = {}
    predicted = _predicted_labels(view)
    for node in view.nodes:
        if view.pool_of(node) is None and node.carries_gpu(view.cluster.gpus):
            lost.setdefault(_why_in_no_pool(view, node), []).append(node.name)
    for placed in view.placed:
        node, pool = placed.node, placed.pool
        if placed.like is not None:
            elsewhere.setdefault((pool.name, _is_like(placed)), []).append(node.name)
            continue
        for fact in placed.facts:
            wrong.setdefault((pool.name, fact), []).append(node.name)
        key = view.cluster.plan.cluster.spec.pool_label
        for text in (*_lacks(node, pool, key), *_of_operator(node, pool, predicted.get(pool.name, {}))):
            lacking.setdefault((pool.name, text), []).append(node.name)
        for text in _more_taints(node, pool, view.cluster.marks.passing):
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
    told = "; ".join(_is(fact) for fact in placed.facts)
    return f"is like pool `{placed.seems.name}`, and unlike its own: {told}"


def _is(fact: Fact) -> str:
    return f"{fact.what} is `{fact.live}`"


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


def _predicted_labels(view: LiveView) -> dict[str, dict[str, str]]:
    """Of each pool, what the operator writes: nothing is said of them where another release of it runs."""
    if other_release(view):
        return {}
    return {
        node.pool: {key: value for key, value in node.labels.items() if key == GPU_PRESENT or key.startswith(DEPLOY)}
        for node in view.cluster.prediction.installation.nodes
    }


def _more_taints(node: LiveNode, pool: PoolPlan, passing: tuple[str, ...]) -> Iterator[str]:
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


def _why_in_no_pool(view: LiveView, node: LiveNode) -> str:
    key = view.cluster.plan.cluster.spec.pool_label
    if key not in node.labels:
        return f"no label `{key}`"
    return f"`{node.labels[key]}` as label `{key}`, and no pool has that value"


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
