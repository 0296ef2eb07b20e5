"""Labels and taints in the descriptions of nodes of each tool: where they stand, and in which form.

The forms are maps, lists of objects, texts, and flags of the kubelet.

Sources: kubernetes-sigs/karpenter:pkg/apis/crds; kubernetes-sigs/cluster-api, definitions of v1beta1 and v1beta2;
Cluster API providers rke2, k3s, aws, azure and gcp; kubeadm's v1beta3 and v1beta4; eksctl.io/v1alpha5;
services.k8s.aws eks; Config Connector; Azure Service Operator; Crossplane's providers aws, gcp and azure of Upbound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_EFFECTS = {"noschedule": "NoSchedule", "prefernoschedule": "PreferNoSchedule", "noexecute": "NoExecute"}
_FILLED_LATER = ("${", "{{", "$(")
"""What another tool replaces before anybody applies it."""


@record(kw_only=False)
class LabelMark:
    """A label, and where it stands. `value` is None where another tool fills it in."""

    key: str
    value: str | None
    pointer: str


@record(kw_only=False)
class TaintMark:
    """A taint, and where it stands. `value` is None where another tool fills it in."""

    key: str
    value: str | None
    effect: str
    pointer: str

    @property
    def identity(self) -> tuple[str, str]:
        """What a node has once."""
        return self.key, self.effect


def labels_at(node: Any, pointer: str, form: str) -> Iterator[LabelMark]:
    """`form` is `map`, `pairs` (a list of texts), `flag` (one text) or `arguments` (of a kubelet)."""
    for key, value, place in _LABELS[form](node, pointer):
        if not _is_filled_later(key):
            yield LabelMark(key, None if _is_filled_later(value) else value, place)


def taints_at(node: Any, pointer: str, form: str) -> Iterator[TaintMark]:
    """`form` is `objects`, `pairs`, `flag`, `arguments` or `map`: the key, and value and effect in one text."""
    for key, value, effect, place in _TAINTS[form](node, pointer):
        known = _EFFECTS.get(effect.lower().replace("_", "").replace("-", ""))
        if key and known is not None and not _is_filled_later(key):
            yield TaintMark(key, None if _is_filled_later(value) else value, known, place)


def is_filled_later(node: Any) -> bool:
    """Whether some text below is for another tool to fill in."""
    pending = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str) and _is_filled_later(item):
            return True
    return False


def _is_filled_later(text: str) -> bool:
    return any(mark in text for mark in _FILLED_LATER)


def _label_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if isinstance(key, str) and not isinstance(value, dict | list):
                yield key, text_of(value), join(pointer, key)


def _label_pairs(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, str) and "=" in item:
            key, _, value = item.partition("=")
            yield key.strip(), value.strip(), join(pointer, index)


def _label_flag(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for item in node.split(",") if isinstance(node, str) else ():
        key, equals, value = item.partition("=")
        if equals:
            yield key.strip(), value.strip(), pointer


def _label_arguments(node: Any, pointer: str) -> Iterator[tuple[str, str, str]]:
    for text, place in _arguments(node, pointer, "node-labels"):
        yield from _label_flag(text, place)


def _arguments(node: Any, pointer: str, flag: str) -> Iterator[tuple[Any, str]]:
    """Values of a flag: of a map, or of a list of names and values."""
    if isinstance(node, dict) and flag in node:
        yield node[flag], join(pointer, flag)
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, dict) and item.get("name") == flag:
            yield item.get("value"), join(pointer, index, "value")


def _taint_objects(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    listed = enumerate(node if isinstance(node, list) else ())
    for step, item in node.items() if isinstance(node, dict) else listed:
        if isinstance(item, dict):
            parts = (text_of(item.get("key")), text_of(item.get("value")), text_of(item.get("effect")))
            yield *parts, join(pointer, step)


def _taint_text(text: str, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    """`key=value:effect` or `key:effect`."""
    rest, colon, effect = text.strip().rpartition(":")
    if colon:
        key, _, value = rest.partition("=")
        yield key, value, effect, pointer


def _taint_pairs(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for index, item in enumerate(node if isinstance(node, list) else ()):
        if isinstance(item, str):
            yield from _taint_text(item, join(pointer, index))


def _taint_flag(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for item in node.split(",") if isinstance(node, str) else ():
        yield from _taint_text(item, pointer)


def _taint_arguments(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    for text, place in _arguments(node, pointer, "register-with-taints"):
        yield from _taint_flag(text, place)


def _taint_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    """`key: value:effect`, of Talos and of older files of eksctl."""
    if isinstance(node, dict):
        for key, text in node.items():
            if isinstance(key, str) and isinstance(text, str):
                value, _, effect = text.rpartition(":")
                yield key, value, effect, join(pointer, key)


def _taint_objects_or_map(node: Any, pointer: str) -> Iterator[tuple[str, str, str, str]]:
    yield from _taint_map(node, pointer)
    yield from _taint_objects(node, pointer)


_LABELS: dict[str, Callable[[Any, str], Iterator[tuple[str, str, str]]]] = {
    "map": _label_map,
    "pairs": _label_pairs,
    "flag": _label_flag,
    "arguments": _label_arguments,
}
_TAINTS: dict[str, Callable[[Any, str], Iterator[tuple[str, str, str, str]]]] = {
    "objects": _taint_objects,
    "pairs": _taint_pairs,
    "flag": _taint_flag,
    "arguments": _taint_arguments,
    "map": _taint_map,
    "objects-or-map": _taint_objects_or_map,
}


Places = tuple[tuple[str, str], ...]
"""Paths with slashes, and the form of what stands there."""


@record
class TemplateKind:
    """A kind that describes nodes. `startup` is for tools that keep these taints apart.

    `within` are lists of groups of nodes: then paths begin at an item.
    """

    kind: str
    group: str
    tool: str
    labels: Places
    taints: Places = ()
    startup: Places = ()
    within: tuple[str, ...] = ()


_JOIN = "spec/template/spec/joinConfiguration/nodeRegistration"
_OWN_JOIN = "spec/joinConfiguration/nodeRegistration"
_AGENT = "spec/template/spec/agentConfig"
_BOOTSTRAP = "bootstrap.cluster.x-k8s.io"
_INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
_CAPACITY = "metadata/annotations/capacity.cluster-autoscaler.kubernetes.io~1"
MACHINES = ("MachineDeployment", "MachinePool", "MachineSet")
"""Of Cluster API: they refer to a bootstrap template, and tell an autoscaler what their nodes will be."""
MACHINES_GROUP = "cluster.x-k8s.io"


def _kubeadm(kind: str, group: str, tool: str, base: str) -> TemplateKind:
    return TemplateKind(
        kind=kind,
        group=group,
        tool=tool,
        labels=((f"{base}/kubeletExtraArgs", "arguments"),),
        taints=((f"{base}/taints", "objects"), (f"{base}/kubeletExtraArgs", "arguments")),
    )


def _agents(kind: str) -> TemplateKind:
    return TemplateKind(
        kind=kind,
        group=_BOOTSTRAP,
        tool="cluster-api",
        labels=((f"{_AGENT}/nodeLabels", "pairs"),),
        taints=((f"{_AGENT}/nodeTaints", "pairs"),),
    )


def _simple(kind: str, group: str, tool: str, labels: str, taints: str, form: str = "objects") -> TemplateKind:
    return TemplateKind(kind=kind, group=group, tool=tool, labels=((labels, "map"),), taints=((taints, form),))


KINDS: tuple[TemplateKind, ...] = (
    TemplateKind(
        kind="NodePool",
        group="karpenter.sh",
        tool="karpenter",
        labels=(("spec/template/metadata/labels", "map"),),
        taints=(("spec/template/spec/taints", "objects"),),
        startup=(("spec/template/spec/startupTaints", "objects"),),
    ),
    TemplateKind(
        kind="Provisioner",
        group="karpenter.sh",
        tool="karpenter",
        labels=(("spec/labels", "map"),),
        taints=(("spec/taints", "objects"),),
        startup=(("spec/startupTaints", "objects"),),
    ),
    _kubeadm("KubeadmConfigTemplate", _BOOTSTRAP, "cluster-api", _JOIN),
    _kubeadm("KubeadmConfig", _BOOTSTRAP, "cluster-api", _OWN_JOIN),
    _kubeadm("JoinConfiguration", "kubeadm.k8s.io", "kubeadm", "nodeRegistration"),
    _agents("RKE2ConfigTemplate"),
    _agents("KThreesConfigTemplate"),
    _simple("AWSManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/labels", "spec/taints"),
    _simple("AzureManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/nodeLabels", "spec/taints"),
    _simple("GCPManagedMachinePool", _INFRASTRUCTURE, "cluster-api", "spec/kubernetesLabels", "spec/kubernetesTaints"),
    TemplateKind(
        kind="ClusterConfig",
        group="eksctl.io",
        tool="eks",
        labels=(("labels", "map"),),
        taints=(("taints", "objects-or-map"),),
        within=("managedNodeGroups", "nodeGroups"),
    ),
    _simple("Nodegroup", "eks.services.k8s.aws", "eks", "spec/labels", "spec/taints"),
    _simple("NodeGroup", "eks.aws.upbound.io", "eks", "spec/forProvider/labels", "spec/forProvider/taint"),
    TemplateKind(
        kind="NodePool",
        group="container.gcp.upbound.io",
        tool="gke",
        labels=(("spec/forProvider/nodeConfig/labels", "map"), ("spec/forProvider/nodeConfig/0/labels", "map")),
        taints=(("spec/forProvider/nodeConfig/taint", "objects"), ("spec/forProvider/nodeConfig/0/taint", "objects")),
    ),
    _simple(
        "KubernetesClusterNodePool",
        "containerservice.azure.upbound.io",
        "aks",
        "spec/forProvider/nodeLabels",
        "spec/forProvider/nodeTaints",
        "pairs",
    ),
    _simple(
        "ContainerNodePool",
        "container.cnrm.cloud.google.com",
        "gke",
        "spec/nodeConfig/labels",
        "spec/nodeConfig/taint",
    ),
    TemplateKind(
        kind="ManagedClustersAgentPool",
        group="containerservice.azure.com",
        tool="aks",
        labels=(("spec/nodeLabels", "map"),),
        taints=(("spec/nodeTaints", "pairs"),),
        startup=(("spec/nodeInitializationTaints", "pairs"),),
    ),
)

TALOS = TemplateKind(
    kind="",
    group="",
    tool="talos",
    labels=(("machine/nodeLabels", "map"), ("machine/kubelet/extraArgs", "arguments")),
    taints=(
        ("machine/nodeTaints", "map"),
        ("machine/kubelet/extraConfig/registerWithTaints", "objects"),
        ("machine/kubelet/extraArgs", "arguments"),
    ),
)
"""A machine configuration is no Kubernetes object."""
AGENT_FILE = TemplateKind(
    kind="",
    group="",
    tool="rke2 or k3s",
    labels=(("node-label", "pairs"),),
    taints=(("node-taint", "pairs"),),
)
"""config.yaml of an agent of k3s or RKE2."""
EXPECTED = TemplateKind(
    kind="",
    group="",
    tool="poolsmith",
    labels=(("provisioner/labels", "map"), ("nodeFeatureDiscovery/labels", "map"), ("setWithTheNode/labels", "map")),
    taints=(("provisioner/taints", "objects"),),
    startup=(("provisioner/startupTaints", "objects"),),
)
"""expected/node-labels of our own output: what whoever makes the nodes is told."""
CAPACITY = TemplateKind(
    kind="",
    group="",
    tool="cluster-api",
    labels=((f"{_CAPACITY}labels", "flag"),),
    taints=((f"{_CAPACITY}taints", "flag"),),
)
"""Annotations of Cluster API's machines for an autoscaler that has seen no node of them."""
