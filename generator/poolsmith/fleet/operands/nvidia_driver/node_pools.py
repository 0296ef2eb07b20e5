"""Nodes that share one DaemonSet: of one operating system and, for precompiled drivers, one kernel.

Source: NVIDIA/gpu-operator:internal/state/nodepool.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER, GPU_PRESENT, KERNEL, OS_ID, OS_MAJOR, OS_VERSION, matches
from poolsmith.gpu.catalog.operator_behaviour import name_of_kernel
from poolsmith.gpu.drivers.image_tag import UnreadableVersionError, os_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.gpu.catalog.nvidia_drivers import NvidiaDriverEntry


@record
class DriverPool:
    """`os_id` is the system as NFD names it, `os_tag` its part of image tags; a kernel for precompiled drivers only."""

    os_id: str
    os_tag: str
    node_selector: Mapping[str, str]
    kernel: str = ""
    kernel_name: str = ""
    """The kernel as a part of names."""


def node_pools(driver: NvidiaDriver, nodes: Sequence[Node], entry: NvidiaDriverEntry) -> list[DriverPool]:
    """The pools of a resource, by name; nodes whose system or kernel is not known are in none. Raises OperatorError."""
    selector = {GPU_PRESENT: "true"}
    if entry.behaviour["owners"]:
        selector[DRIVER_OWNER] = driver.name
    selector |= driver.own_selector
    pools: dict[str, DriverPool] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        pool = _pool(driver, node, selector, entry) if matches(node.labels, selector) else None
        if pool is not None:
            pools.setdefault(f"{pool.os_tag}-{pool.kernel_name}", pool)
    if not pools and entry.behaviour["withoutPools"] == "error":
        raise OperatorError(f"no nodes matching the given node selector for {driver.name}")
    return [pools[key] for key in sorted(pools)]


def _pool(driver: NvidiaDriver, node: Node, selector: Mapping[str, str], entry: NvidiaDriverEntry) -> DriverPool | None:
    if OS_ID not in node.labels or OS_VERSION not in node.labels:
        return None
    os_id, version = node.labels[OS_ID], node.labels[OS_VERSION]
    try:
        tag = os_tag(os_id, version, entry.release)
    except UnreadableVersionError as error:
        raise OperatorError(
            f"failed to get node pools: failed to get OS info for node {node.name}: failed to parse os version: {error}"
        ) from None
    own = {**selector, OS_ID: os_id}
    if not entry.behaviour["selectsMajor"] or tag.endswith(version):
        own[OS_VERSION] = version
    elif OS_MAJOR in node.labels:
        own[OS_MAJOR] = node.labels[OS_MAJOR]
    else:
        return None
    if not driver.precompiled:
        return DriverPool(os_id=os_id, os_tag=tag, node_selector=own)
    kernel = node.labels.get(KERNEL)
    if kernel is None:
        return None
    name = name_of_kernel(kernel, entry.behaviour["architectures"])
    return DriverPool(os_id=os_id, os_tag=tag, node_selector=own, kernel=kernel, kernel_name=name)
