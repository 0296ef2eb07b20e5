"""The operating system and kernel of nodes, as their labels say, and the node that speaks for a ClusterPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_ID, OS_VERSION
from poolsmith.gpu.drivers.image_tag import UnreadableVersionError, os_tag

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context
    from poolsmith.fleet.operands.expansion import Node


def cluster_os_tag(context: Context) -> str:
    """The tag that a ClusterPolicy uses for every node: that of the first GPU node. Raises OperatorError."""
    node = context.gpu_nodes[0]
    if context.behaviour["osTag"] == "of-first-node-or-empty":
        return _or_empty(node)
    for key, what in ((OS_ID, "name"), (OS_VERSION, "version")):
        if key not in node.labels:
            raise OperatorError(f"unable to retrieve OS {what} from label {key}")
    try:
        return os_tag(node.labels[OS_ID], node.labels[OS_VERSION], context.entry.release)
    except UnreadableVersionError as error:
        what = f"error processing OS major version {error.major}: " if error.named else ""
        raise OperatorError(f"{what}{error}") from None


def driver_os_tag(context: Context) -> str:
    """The same, for a driver image, which up to 25.10 also needs the kernel's label. Raises OperatorError."""
    if context.behaviour["osTag"] == "of-first-node-or-empty" and not context.gpu_nodes[0].labels.get(KERNEL):
        raise OperatorError("ERROR: Could not find kernel full version: ('', '')")
    return cluster_os_tag(context)


def _or_empty(node: Node) -> str:
    if KERNEL not in node.labels or OS_ID not in node.labels or OS_VERSION not in node.labels:
        return ""
    return f"{node.labels[OS_ID]}{node.labels[OS_VERSION]}"
