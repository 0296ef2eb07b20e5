"""Nodes as the API server tells of them: what is of a wrong type, or longer than it may be, says nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.fleet.operands.node_labels import has_gpu
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, GPU_PRODUCT
from poolsmith.kubernetes.live.resources import NODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.kubernetes.live.snapshot import Snapshot

Taint = tuple[str, str, str]
"""Key, value, effect."""
_LONGEST = 253
"""No label, taint or version of Kubernetes is longer."""
_GPU_RESOURCES = re.compile(
    r"nvidia\.com/(?:gpu(?:\.shared)?|mig-[\w.-]+|pgpu|cc_gpu|NVIDIA_[A-Za-z0-9]{1,20}-\d{1,3}[QCAB])"
)
"""Whole and shared GPUs, slices, the aliases of the plugins for machines, types of vGPUs. Source:
NVIDIA/k8s-device-plugin; NVIDIA/kubevirt-gpu-device-plugin; kubevirt.io user guide, mediated devices."""


@record(kw_only=False)
class LiveNode:
    """`info` is what the kubelet says of the machine; `capacity` what it has, and `allocatable` what pods may have of
    it; `conditions` are the status of each by its type."""

    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: tuple[Taint, ...]
    info: dict[str, str]
    capacity: dict[str, str]
    allocatable: dict[str, str]
    conditions: dict[str, str]

    def carries_gpu(self, gpus: Gpus) -> bool:
        """Whether feature discovery or the operator label it so, or a plugin advertises one."""
        labels = self.labels
        if has_gpu(labels) or labels.get(GPU_PRESENT) == "true" or GPU_PRODUCT in labels:
            return True
        return any(value not in ("", "0") for value in self.offered(gpus).values())

    def offered(self, gpus: Gpus) -> dict[str, str]:
        """Resources of GPUs that plugins have told the kubelet of, with how many there are."""
        return {
            key: value
            for key, value in self.capacity.items()
            if _GPU_RESOURCES.fullmatch(key) or key in gpus.by_resource
        }


def live_nodes(snapshot: Snapshot) -> tuple[LiveNode, ...]:
    """By name."""
    found = (_node(body) for body in snapshot.items(NODES))
    return tuple(sorted(found, key=lambda node: node.name))


def _node(body: dict[str, Any]) -> LiveNode:
    metadata, status = body["metadata"], mapping(body.get("status"))
    return LiveNode(
        str(metadata["name"]),
        _texts(metadata.get("labels")),
        _texts(metadata.get("annotations")),
        tuple(_taints(body)),
        _texts(status.get("nodeInfo")),
        _texts(status.get("capacity")),
        _texts(status.get("allocatable")),
        {word(item.get("type")): word(item.get("status")) for item in mappings(status.get("conditions"))},
    )


def _taints(body: Mapping[str, Any]) -> list[Taint]:
    given = mappings(mapping(body.get("spec")).get("taints"))
    taints = [(word(item.get("key")), word(item.get("value")), word(item.get("effect"))) for item in given]
    return [taint for taint in taints if taint[0]]


def _texts(found: Any) -> dict[str, str]:
    return {
        key: str(value)
        for key, value in mapping(found).items()
        if isinstance(key, str) and isinstance(value, str | int) and len(key) + len(str(value)) <= 2 * _LONGEST
    }
