"""The operating system's part of a driver image tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.kube import OperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.operands.context import Context
    from poolsmith.operands.expansion import Node

OS_ID = "feature.node.kubernetes.io/system-os_release.ID"
OS_VERSION = "feature.node.kubernetes.io/system-os_release.VERSION_ID"
OS_MAJOR = "feature.node.kubernetes.io/system-os_release.VERSION_ID.major"
OS_TREE = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION"
KERNEL = "feature.node.kubernetes.io/kernel-version.full"


def tagged(os_id: str, version: str, majors: Sequence[Mapping[str, Any]]) -> str:
    """`ubuntu22.04`, or `rhel9` where `majors` has a rule for the system: `{id, from?}`. Raises OperatorError."""
    major = version.partition(".")[0]
    for rule in majors:
        if rule["id"] == os_id and ("from" not in rule or _number(major) >= rule["from"]):
            return f"{os_id}{major}"
    return f"{os_id}{version}"


def cluster_os_tag(context: Context) -> str:
    """The tag that a ClusterPolicy uses for every node: that of the first GPU node. Raises OperatorError."""
    node = context.gpu_nodes[0]
    if context.behaviour["osTag"] == "of-first-node-or-empty":
        return _or_empty(node)
    for key, what in ((OS_ID, "name"), (OS_VERSION, "version")):
        if key not in node.labels:
            raise OperatorError(f"unable to retrieve OS {what} from label {key}")
    return tagged(node.labels[OS_ID], node.labels[OS_VERSION], context.behaviour["osTagMajors"])


def driver_os_tag(context: Context) -> str:
    """The same, for a driver image, which up to 25.10 also needs the kernel's label. Raises OperatorError."""
    if context.behaviour["osTag"] == "of-first-node-or-empty" and not context.gpu_nodes[0].labels.get(KERNEL):
        raise OperatorError("ERROR: Could not find kernel full version: ('', '')")
    return cluster_os_tag(context)


def _or_empty(node: Node) -> str:
    if KERNEL not in node.labels or OS_ID not in node.labels or OS_VERSION not in node.labels:
        return ""
    return f"{node.labels[OS_ID]}{node.labels[OS_VERSION]}"


def _number(text: str) -> int:
    if not text.isdecimal():
        raise OperatorError(f'error processing OS major version {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)
