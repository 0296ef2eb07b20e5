"""Nodes that share one DaemonSet: of one operating system and, for precompiled drivers, one kernel.

Source: NVIDIA/gpu-operator:internal/state/nodepool.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.operator_behaviour import name_of_kernel
from poolsmith.operands.context import GPU_PRESENT
from poolsmith.operands.kube import OperatorError
from poolsmith.operands.node_labels import DRIVER_OWNER
from poolsmith.operands.nvidia_driver.conflicts import matches
from poolsmith.operands.os_tag import KERNEL, OS_ID, OS_MAJOR, OS_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.catalog.nvidia_drivers import NvidiaDriverEntry
    from poolsmith.operands.expansion import Node
    from poolsmith.operands.nvidia_driver.driver_resource import NvidiaDriver

_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePool:
    """`os_id` is the system as NFD names it, `os_tag` its part of image tags; a kernel for precompiled drivers only."""

    os_id: str
    os_tag: str
    node_selector: Mapping[str, str]
    kernel: str = ""
    kernel_name: str = ""
    """The kernel as a part of names."""


def node_pools(driver: NvidiaDriver, nodes: Sequence[Node], entry: NvidiaDriverEntry) -> list[NodePool]:
    """The pools of a resource, by name; nodes whose system or kernel is not known are in none. Raises OperatorError."""
    selector = {GPU_PRESENT: "true"}
    if entry.behaviour["owners"]:
        selector[DRIVER_OWNER] = driver.name
    selector |= driver.own_selector
    pools: dict[str, NodePool] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        pool = _pool(driver, node, selector, entry.behaviour) if matches(node, selector) else None
        if pool is not None:
            pools.setdefault(f"{pool.os_tag}-{pool.kernel_name}", pool)
    if not pools and entry.behaviour["withoutPools"] == "error":
        raise OperatorError(f"no nodes matching the given node selector for {driver.name}")
    return [pools[key] for key in sorted(pools)]


def _pool(
    driver: NvidiaDriver, node: Node, selector: Mapping[str, str], behaviour: Mapping[str, Any]
) -> NodePool | None:
    if OS_ID not in node.labels or OS_VERSION not in node.labels:
        return None
    os_id, version = node.labels[OS_ID], node.labels[OS_VERSION]
    try:
        os_tag = _tagged(os_id, version, behaviour["osTagMajors"])
    except OperatorError as error:
        raise OperatorError(f"failed to get node pools: failed to get OS info for node {node.name}: {error}") from None
    own = {**selector, OS_ID: os_id}
    if not behaviour["selectsMajor"] or os_tag.endswith(version):
        own[OS_VERSION] = version
    elif OS_MAJOR in node.labels:
        own[OS_MAJOR] = node.labels[OS_MAJOR]
    else:
        return None
    if not driver.precompiled:
        return NodePool(os_id=os_id, os_tag=os_tag, node_selector=own)
    kernel = node.labels.get(KERNEL)
    if kernel is None:
        return None
    name = name_of_kernel(kernel, behaviour["architectures"])
    return NodePool(os_id=os_id, os_tag=os_tag, node_selector=own, kernel=kernel, kernel_name=name)


def _tagged(os_id: str, version: str, majors: Sequence[Mapping[str, Any]]) -> str:
    """`ubuntu22.04`, or `rocky9` where `majors` has a rule for the system: `{id, from?}`. Raises OperatorError."""
    rule = next((rule for rule in majors if rule["id"] == os_id), None)
    if rule is None or ("from" in rule and _major(version) < rule["from"]):
        return f"{os_id}{version}"
    return f"{os_id}{version.partition('.')[0]}"


def _major(version: str) -> int:
    text = re.sub(r"^[vV]", "", version.strip()).split(".")[0]
    if not text:
        raise OperatorError("failed to parse os version: empty OS major version")
    if not _NUMBER.fullmatch(text):
        raise OperatorError(f'failed to parse os version: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
