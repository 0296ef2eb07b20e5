"""Labels and taints of a node that are otherwise than its pool needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.fleet.plan.plan import PROVISIONER
from poolsmith.gpu.catalog.node_labels import DEPLOY_DRIVER, PAUSED
from poolsmith.gpu.catalog.stopped import read_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.discover.gpu_nodes import LiveNode, Taint
    from poolsmith.fleet.plan.plan import PoolPlan

_FEW = 4
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
