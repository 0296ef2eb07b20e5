"""Nodes as the API server tells of them: what is of a wrong type, or longer than it may be, says nothing.

Nodes with GPUs: what each says of itself, and the fewest pools that say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.fleet.operands.operator_labels import has_gpu
from poolsmith.gpu.catalog.node_labels import (
    CC_MODE,
    DEPLOY_DRIVER,
    DEVICE_PLUGIN_CONFIG,
    DRIVER_VERSION,
    FEATURE,
    GPU_COUNT,
    GPU_PRESENT,
    GPU_PRODUCT,
    KERNEL,
    MIG_CONFIG,
    OS_ID,
    OS_VERSION,
    PCI_MELLANOX,
    VGPU_CONFIG,
    WORKLOAD,
    driver_version,
    product_of,
)
from poolsmith.kubernetes.live.api_resources import NODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.catalog.live_cluster import NodeMarks
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


KATA = "katacontainers.io/kata-runtime"
TEES = (
    ("snp", "amd.feature.node.kubernetes.io/snp"),
    ("tdx", "intel.feature.node.kubernetes.io/tdx"),
    ("snp", f"{FEATURE}cpu-security.sev.snp.enabled"),
    ("tdx", f"{FEATURE}cpu-security.tdx.enabled"),
)
"""Source: kata-containers/kata-containers, kata-deploy; node-feature-discovery, feature `cpu.security`."""
_OF_GPU = "nvidia.com/"
_OF_A_POOL = (
    *("product", "count", "os.id", "arch", "runtime", "workload"),
    *("mig", "sharing", "vgpu", "cc", "tee"),
)
"""What one profile says once, and no upgrade is about to change."""
GUESSED = "all nodes with GPUs have it, and nodes of one value are alike"
"""Why a label is taken that nothing else speaks for: somebody has to confirm it."""


@record(kw_only=False)
class Said:
    """A value, and where nodes say it."""

    value: str
    where: str


@record(frozen=False, kw_only=False)
class GpuNode:
    """One node. `said` are its facts by what they are; `labels` as far as they are texts."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    capacity: dict[str, str]
    said: dict[str, Said] = field(default_factory=dict)

    def get(self, what: str) -> str | None:
        found = self.said.get(what)
        return None if found is None else found.value


@record
class NodeGroup:
    """Nodes with one value of the pool label; None for nodes without one."""

    value: str | None
    nodes: tuple[GpuNode, ...]

    def values(self, what: str) -> dict[str, int]:
        """What the nodes say, with how many say it; the commonest first, of equals the first by name."""
        found = Counter(value for node in self.nodes if (value := node.get(what)) is not None)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def where(self, what: str) -> str:
        return next((node.said[what].where for node in self.nodes if what in node.said), "")

    def in_all(self, label: str) -> bool:
        return all(node.labels.get(label) == "true" for node in self.nodes)


def gpu_nodes(snapshot: Snapshot, marks: NodeMarks, gpus: Gpus) -> tuple[GpuNode, ...]:
    """Those that have a GPU, by name."""
    return tuple(_said(live, marks) for live in live_nodes(snapshot) if live.carries_gpu(gpus))


def _said(live: LiveNode, marks: NodeMarks) -> GpuNode:
    lasting = tuple(taint for taint in live.taints if not taint[0].startswith(marks.passing))
    node = GpuNode(live.name, live.labels, lasting, live.capacity)
    _say(node, live.info, marks)
    return node


def _say(node: GpuNode, info: Mapping[str, str], marks: NodeMarks) -> None:
    labels, said = node.labels, node.said

    def put(what: str, value: str | None, where: str) -> None:
        if value:
            said.setdefault(what, Said(value, where))

    put("os.id", labels.get(OS_ID), f"label {OS_ID}")
    put("os.version", labels.get(OS_VERSION), f"label {OS_VERSION}")
    put("os.image", info.get("osImage"), "nodeInfo.osImage")
    if (system := marks.system(info.get("osImage", ""))) is not None:
        put("os.id", system[0], "nodeInfo.osImage")
        if said["os.id"].value == system[0]:
            put("os.version", system[1], "nodeInfo.osImage")
    put("kernel", info.get("kernelVersion"), "nodeInfo.kernelVersion")
    put("kernel", labels.get(KERNEL), f"label {KERNEL}")
    put("arch", info.get("architecture"), "nodeInfo.architecture")
    runtime, _, version = info.get("containerRuntimeVersion", "").partition("://")
    put("runtime", runtime, "nodeInfo.containerRuntimeVersion")
    put("runtime.version", version.partition("-")[0].partition("+")[0], "nodeInfo.containerRuntimeVersion")
    put("kubelet", info.get("kubeletVersion"), "nodeInfo.kubeletVersion")
    distribution = marks.distribution(labels, info.get("kubeletVersion", ""), info.get("osImage", ""))
    put("distribution", distribution, "nodeInfo.kubeletVersion, nodeInfo.osImage and labels")
    whole, part = product_of(labels)
    put("product", whole, f"label {GPU_PRODUCT}")
    if not part:
        put("count", labels.get(GPU_COUNT), f"label {GPU_COUNT}")
    put("driver", driver_version(labels), f"label {DRIVER_VERSION}")
    for tee, key in TEES:
        if labels.get(key) == "true":
            put("tee", tee, f"label {key}")
    for what, key in (
        ("mig", MIG_CONFIG),
        ("sharing", DEVICE_PLUGIN_CONFIG),
        ("workload", WORKLOAD),
        ("vgpu", VGPU_CONFIG),
        ("cc", CC_MODE),
        ("kata", KATA),
        ("driver.deploy", DEPLOY_DRIVER),
        ("mellanox", PCI_MELLANOX),
    ):
        put(what, labels.get(key), f"label {key}")
    if part:  # one size of slices, which take the place of whole GPUs
        put("mig", f"all-{part}", f"label {GPU_PRODUCT}")


def pool_label(
    nodes: Sequence[GpuNode], given: str | None, selected_by: Iterable[str], marks: NodeMarks
) -> tuple[str | None, str]:
    """The label that tells pools apart, and why it is that one: given, what driver objects select by, a provider's,
    else the one label of somebody's own that all nodes have, whose nodes are alike, and that makes the fewest pools."""
    if given is not None:
        return given, "--pool-label"
    for key in selected_by:
        if all(key in node.labels for node in nodes) and not key.startswith(marks.of_machines):
            return key, "NVIDIADriver objects select nodes by it"
    for key in marks.pools:
        if any(key in node.labels for node in nodes):
            return key, "it names the pools of who makes the nodes"
    everywhere = set.intersection(*(set(node.labels) for node in nodes)) if nodes else set()
    own = sorted(key for key in everywhere if not key.startswith((*marks.of_machines, FEATURE, _OF_GPU)))
    grouped = {key: groups_of(nodes, key) for key in own}
    fitting = {
        key: len(groups)
        for key, groups in grouped.items()
        if all(map(_alike, groups)) and (_tells_apart(groups) or "pool" in key.lower())
    }
    best = [key for key, count in fitting.items() if count == min(fitting.values())]
    named = [key for key in best if "pool" in key.lower()] or best
    return (named[0], GUESSED) if len(named) == 1 else (None, "")


def _tells_apart(groups: Sequence[NodeGroup]) -> bool:
    """What all nodes say alike, or each says for itself alone, names no pools, unless it is called so."""
    return len(groups) > 1 and any(len(group.nodes) > 1 for group in groups)


def _alike(group: NodeGroup) -> bool:
    return all(len(group.values(what)) <= 1 for what in ("os.id", "arch", "runtime", "product", "workload"))


def groups_of(nodes: Iterable[GpuNode], key: str | None) -> tuple[NodeGroup, ...]:
    """By the value of the label. Without one, and for nodes that lack it: by what they are."""
    found: dict[tuple[bool, str], list[GpuNode]] = {}
    for node in nodes:
        value = node.labels.get(key) if key is not None else None
        kind = "/".join(node.get(what) or "" for what in _OF_A_POOL)
        found.setdefault((value is None, kind if value is None else value), []).append(node)
    return tuple(
        NodeGroup(value=None if is_loose else value, nodes=tuple(members))
        for (is_loose, value), members in sorted(found.items())
    )
