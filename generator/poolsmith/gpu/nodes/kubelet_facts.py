"""What the kubelet says of its node: `status.nodeInfo`, with the system by the name that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.live_cluster import read_node_marks
from poolsmith.gpu.nodes.node_facts import NodeFacts, System, Told, kernel_label, one

if TYPE_CHECKING:
    from collections.abc import Mapping

NODE_INFO = "/status/nodeInfo"
_KUBELET = "kubeletVersion"
_IMAGE, _KERNEL, _RUNTIME, _ARCHITECTURE = "osImage", "kernelVersion", "containerRuntimeVersion", "architecture"
RUNTIME, KUBELET = join(NODE_INFO, _RUNTIME), join(NODE_INFO, _KUBELET)


def facts_of_node_info(info: Mapping[str, str], at: str = NODE_INFO) -> NodeFacts:
    """`at` is the pointer to it. What the catalog knows no name of stays unknown."""
    runtimes, versions = facts_of_runtime(info.get(_RUNTIME, ""), join(at, _RUNTIME))
    system = read_node_marks().system(info.get(_IMAGE, ""))
    place = join(at, _IMAGE)
    return NodeFacts(
        systems=()
        if system is None
        else (System(Told(system[0], place), Told(system[1], place) if system[1] else None),),
        kernels=one(kernel_label(info.get(_KERNEL, "")), join(at, _KERNEL)),
        runtimes=runtimes,
        runtime_versions=versions,
        architectures=one(info.get(_ARCHITECTURE), join(at, _ARCHITECTURE)),
        kubelets=one(info.get(_KUBELET), join(at, _KUBELET)),
    )


def facts_of_runtime(text: str, pointer: str) -> tuple[tuple[Told, ...], tuple[Told, ...]]:
    """The name and the version of a runtime as a node's status has them."""
    name, version = container_runtimes().of_status(text)
    return one(name, pointer), one(version, pointer)
