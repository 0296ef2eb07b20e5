"""The one container runtime that the operator assumes for a whole cluster.

Source: NVIDIA/gpu-operator:controllers/state_manager.go. A live operator lists nodes in no order: cri-o beside docker,
without containerd, ends in whichever comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.fleet.operands.expansion import Node

_PREFIXES = (("docker", "docker"), ("containerd", "containerd"), ("cri-o", "crio"))


def runtime_of(node: Node) -> str:
    """containerd, docker or crio; empty for a runtime that the operator does not recognise."""
    return next((name for prefix, name in _PREFIXES if node.runtime.startswith(prefix)), "")


def detect_runtime(gpu_nodes: Sequence[Node]) -> str:
    """containerd as soon as one node has it, else the last recognised one, else containerd."""
    runtimes = [name for name in map(runtime_of, gpu_nodes) if name]
    if "containerd" in runtimes or not runtimes:
        return "containerd"
    return runtimes[-1]


def is_ambiguous(gpu_nodes: Sequence[Node]) -> bool:
    """Whether the outcome depends on the order in which a live operator happens to list nodes."""
    runtimes = {name for name in map(runtime_of, gpu_nodes) if name}
    return len(runtimes) > 1 and "containerd" not in runtimes
