"""The facts that one expansion looks at: the nodes' operating system and kernel, and the cluster's container runtime.

The operator assumes one container runtime for a whole cluster.

Source: NVIDIA/gpu-operator:controllers/state_manager.go. A live operator lists nodes in no order: two runtimes
without the preferred one end in whichever comes last.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.fleet.operands.expansion import nothing_known
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, worded
from poolsmith.fleet.operands.operand_containers import image_path
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT, KERNEL, OS_ID, OS_VERSION
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE
from poolsmith.gpu.drivers.driver_image import UnreadableVersionError, os_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.core.latest import Latest
    from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion import KubernetesObject, Node
    from poolsmith.gpu.catalog.container_runtimes import ContainerRuntime
    from poolsmith.gpu.catalog.operands import OperandEntry


@record
class Context:
    """`nodes` are sorted by name, with the labels that they have once the operator labelled them.

    `runtime` is the container runtime that the operator assumes for all of them, in its own word.
    """

    entry: OperandEntry
    policy: ClusterPolicySpec | None
    nodes: tuple[Node, ...]
    runtime: str
    namespace: str = OPERATOR_NAMESPACE
    os_release: Mapping[str, str] | None = None
    objects: tuple[KubernetesObject, ...] = ()
    service_monitors: bool = False
    kernel: str = ""
    """The kernel that a driver DaemonSet is being made for, when drivers are precompiled."""
    known: Latest = field(default_factory=nothing_known, compare=False, repr=False)
    """What was made before, by `surroundings` and by what else it follows from. Never changed."""

    @property
    def surroundings(self) -> bytes:
        """All that is not of the nodes or of a kernel."""
        policy = None if self.policy is None else self.policy.resource
        apart = (self.entry.release, self.namespace, self.runtime, self.os_release, self.service_monitors)
        return tree_digest([apart, policy, self.objects])

    @property
    def behaviour(self) -> Mapping[str, Any]:
        return self.entry.behaviour

    @property
    def spec(self) -> ClusterPolicySpec:
        """The ClusterPolicy, where the caller knows that there is one."""
        if self.policy is None:
            raise NotModelled("operands of a ClusterPolicy without a ClusterPolicy")
        return self.policy

    @property
    def container_runtime(self) -> ContainerRuntime | None:
        """The one that `runtime` is the operator's word for."""
        return container_runtimes().by_operator.get(self.runtime)

    def runs(self, name: str) -> bool:
        """Whether it is the runtime that profiles call so."""
        runtime = self.container_runtime
        return runtime is not None and runtime.name == name

    @property
    def gpu_nodes(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.labels.get(GPU_PRESENT) == "true")

    def existing(self, kind: str, name: str) -> KubernetesObject | None:
        """An object that stands in the operator's namespace already."""
        for item in self.objects:
            metadata = item.get("metadata") or {}
            if item.get("kind") != kind or metadata.get("name") != name:
                continue
            if metadata.get("namespace", self.namespace) == self.namespace:
                return item
        return None

    def image(self, component: str, variable: str, *below: str) -> str:
        """A component's image. Raises OperatorError."""
        return self.image_of(self.spec.at(component, *below), variable)

    def image_of(self, spec: Mapping[str, Any], variable: str) -> str:
        """The image that a part of the ClusterPolicy names. Raises OperatorError."""
        try:
            return image_path(spec, variable, partly=self.behaviour["partialImages"])
        except OperatorError as error:
            raise OperatorError(worded(str(error), self.behaviour)) from None


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


def runtime_of(node: Node) -> str:
    """In the operator's word; empty for a runtime that it does not recognise."""
    return container_runtimes().recognised(node.runtime)


def detect_runtime(gpu_nodes: Sequence[Node]) -> str:
    """The preferred one (containerd) as soon as one node has it, else the last recognised one, else the preferred."""
    preferred = container_runtimes().preferred.operator or ""
    runtimes = [name for name in map(runtime_of, gpu_nodes) if name]
    return preferred if preferred in runtimes or not runtimes else runtimes[-1]


def is_ambiguous(gpu_nodes: Sequence[Node]) -> bool:
    """Whether the outcome depends on the order in which a live operator happens to list nodes."""
    runtimes = {name for name in map(runtime_of, gpu_nodes) if name}
    return len(runtimes) > 1 and container_runtimes().preferred.operator not in runtimes
