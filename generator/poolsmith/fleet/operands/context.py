"""What one expansion looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.image_path import image_path
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, worded
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.cluster_policy import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion import KubernetesObject, Node
    from poolsmith.gpu.catalog.operands import OperandEntry


@record
class Context:
    """`nodes` are sorted by name, with the labels that they have once the operator labelled them.

    `runtime` is the container runtime that the operator assumes for all of them: containerd, docker or crio.
    """

    entry: OperandEntry
    policy: ClusterPolicySpec | None
    nodes: tuple[Node, ...]
    runtime: str
    namespace: str = "gpu-operator"
    os_release: Mapping[str, str] | None = None
    objects: tuple[KubernetesObject, ...] = ()
    service_monitors: bool = False
    kernel: str = ""
    """The kernel that a driver DaemonSet is being made for, when drivers are precompiled."""

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
