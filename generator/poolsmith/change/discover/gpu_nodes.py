"""Nodes with GPUs of a cluster: what each says of itself, and the fewest pools that say the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import split
from poolsmith.gpu.catalog.node_labels import (
    CC_MODE,
    DEPLOY_DRIVER,
    DEVICE_PLUGIN_CONFIG,
    FEATURE,
    MIG_CONFIG,
    PCI_MELLANOX,
    VGPU_CONFIG,
    WORKLOAD,
)
from poolsmith.gpu.nodes.live_nodes import live_nodes
from poolsmith.gpu.nodes.node_facts import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.catalog.live_cluster import NodeMarks
    from poolsmith.gpu.nodes.live_nodes import LiveNode, Taint
    from poolsmith.kubernetes.live.snapshot import Snapshot


KATA = "katacontainers.io/kata-runtime"
TEES = (
    ("snp", "amd.feature.node.kubernetes.io/snp"),
    ("tdx", "intel.feature.node.kubernetes.io/tdx"),
    ("snp", f"{FEATURE}cpu-security.sev.snp.enabled"),
    ("tdx", f"{FEATURE}cpu-security.tdx.enabled"),
)
"""Source: kata-containers/kata-containers, kata-deploy; node-feature-discovery, feature `cpu.security`."""
_OF_GPU = "nvidia.com/"
_LABELS = ("metadata", "labels")
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

    def put(self, what: str, value: str | None, where: str) -> None:
        """The first that says something counts."""
        if value:
            self.said.setdefault(what, Said(value, where))

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
    _say_machine(node, live)
    _say_cluster(node, live, marks)
    _say_use(node, live)
    return node


def _say_machine(node: GpuNode, live: LiveNode) -> None:
    facts = live.facts
    version = facts.runtime_versions[:1]
    for what, told in (
        ("os.id", facts.system_id),
        ("os.version", facts.system_version),
        ("kernel", _first(facts.kernels)),
        ("arch", _first(facts.architectures)),
        ("runtime", _first(facts.runtimes)),
        ("runtime.version", Told(_released(version[0].value), version[0].pointer) if version else None),
        ("product", _first(facts.products)),
        ("count", _first(facts.counts)),
        ("driver", _first(facts.drivers)),
    ):
        if told is not None and told.value:
            node.said[what] = Said(told.value, _words(told.pointer))


def _say_cluster(node: GpuNode, live: LiveNode, marks: NodeMarks) -> None:
    """What the kubelet tells of the cluster that it is part of."""
    image, kubelet = live.info.get("osImage", ""), live.info.get("kubeletVersion", "")
    node.put("os.image", image, "nodeInfo.osImage")
    node.put("kubelet", kubelet, "nodeInfo.kubeletVersion")
    distribution = marks.distribution(live.labels, kubelet, image)
    node.put("distribution", distribution, "nodeInfo.kubeletVersion, nodeInfo.osImage and labels")


def _say_use(node: GpuNode, live: LiveNode) -> None:
    """What somebody wants of the node, or has made of it."""
    labels = live.labels
    for tee, key in TEES:
        if labels.get(key) == "true":
            node.put("tee", tee, f"label {key}")
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
        node.put(what, labels.get(key), f"label {key}")
    for part in live.facts.slices:  # one size of slices, which take the place of whole GPUs
        node.put("mig", f"all-{part.value}", _words(part.pointer))


def _first(told: tuple[Told, ...]) -> Told | None:
    return told[0] if told else None


def _released(version: str) -> str:
    """A version without what a distribution appends to it."""
    return version.partition("-")[0].partition("+")[0]


def _words(pointer: str) -> str:
    """A place on a node, for people: `label a`, `nodeInfo.b`."""
    steps = split(pointer)
    return f"label {steps[-1]}" if steps[:2] == _LABELS else f"nodeInfo.{steps[-1]}"


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
