"""Nodes as the API server tells of them: what is of a wrong type, or longer than it may be, says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, GPU_PRODUCT, has_gpu
from poolsmith.gpu.nodes.kubelet_facts import facts_of_node_info
from poolsmith.gpu.nodes.label_facts import facts_of_labels
from poolsmith.gpu.nodes.node_facts import NodeFacts
from poolsmith.kubernetes.live.api_resources import NODES
from poolsmith.kubernetes.repository.node_template_marks import TaintMark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.kubernetes.live.snapshot import Snapshot


Taint = tuple[str, str, str]
"""Key, value, effect."""
_TAINTS = "/spec/taints"
_LONGEST = 253
"""No label, taint or version of Kubernetes is longer."""
_GPU_RESOURCES = pattern(
    r"nvidia\.com/(?:gpu(?:\.shared)?|mig-[\w.-]+|pgpu|cc_gpu|NVIDIA_[A-Za-z0-9]{1,20}-\d{1,3}[QCAB])"
)
"""Whole and shared GPUs, slices, the aliases of the plugins for machines, types of vGPUs. Source:
NVIDIA/k8s-device-plugin; NVIDIA/kubevirt-gpu-device-plugin; kubevirt.io user guide, mediated devices."""


@record(kw_only=False)
class LiveNode:
    """`facts` are what labels and the kubelet say of the machine, `info` the kubelet's own words; `capacity` is what it
    has, and `allocatable` what pods may have of it; `conditions` are the status of each by its type."""

    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: tuple[Taint, ...]
    info: dict[str, str]
    capacity: dict[str, str]
    allocatable: dict[str, str]
    conditions: dict[str, str]
    facts: NodeFacts

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
    return tuple(sorted(map(live_node, snapshot.items(NODES)), key=lambda node: node.name))


def live_node(body: Mapping[str, Any]) -> LiveNode:
    """A v1 Node with a name."""
    metadata, status = body["metadata"], mapping(body.get("status"))
    labels, info = _texts(metadata.get("labels")), _texts(status.get("nodeInfo"))
    marks = tuple(_taints(body))
    return LiveNode(
        str(metadata["name"]),
        labels,
        _texts(metadata.get("annotations")),
        tuple((mark.key, mark.value or "", mark.effect) for mark in marks),
        info,
        _texts(status.get("capacity")),
        _texts(status.get("allocatable")),
        {word(item.get("type")): word(item.get("status")) for item in mappings(status.get("conditions"))},
        live_facts(labels, info, marks),
    )


def live_facts(labels: Mapping[str, str], info: Mapping[str, str], taints: tuple[TaintMark, ...] = ()) -> NodeFacts:
    """The kubelet counts first; of the system, Node Feature Discovery, which reads the same file as the operator."""
    told, kubelet = facts_of_labels(labels), facts_of_node_info(info)
    return NodeFacts(
        systems=told.systems + kubelet.systems,
        kernels=kubelet.kernels + told.kernels,
        runtimes=kubelet.runtimes,
        runtime_versions=kubelet.runtime_versions,
        architectures=kubelet.architectures + told.architectures,
        kubelets=kubelet.kubelets,
        products=told.products,
        slices=told.slices,
        counts=told.counts,
        pci=told.pci,
        drivers=told.drivers,
        labels=told.labels,
        taints=taints,
    )


def _taints(body: Mapping[str, Any]) -> list[TaintMark]:
    listed = mapping(body.get("spec")).get("taints")
    found = [
        TaintMark(word(item.get("key")), word(item.get("value")), word(item.get("effect")), join(_TAINTS, index))
        for index, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    ]
    return [mark for mark in found if mark.key]


def _texts(found: Any) -> dict[str, str]:
    return {
        key: str(value)
        for key, value in mapping(found).items()
        if isinstance(key, str) and isinstance(value, str | int) and len(key) + len(str(value)) <= 2 * _LONGEST
    }
