"""What the operator will create, and what it looks at while it decides.

Objects are whole Kubernetes objects as plain mappings, in the order of `object_order`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KubernetesObject = dict[str, Any]

NO_OPERANDS = "the operands of release "
"""How it begins when nothing is known of what an operator creates."""


@record
class Node:
    """A node as the operator sees it. `runtime` is its containerRuntimeVersion, as `containerd://1.7.24`.

    `pool` is the pool that it stands for, where it is no real one.
    """

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict)
    runtime: str = ""
    taints: tuple[Mapping[str, str], ...] = ()
    pool: str = ""


@record
class ClusterState:
    """What stands in the cluster before the operator acts.

    `resources` are the custom resources (ClusterPolicy, NVIDIADriver, GPUCluster), `objects` whatever else exists.
    `os_release` is /etc/os-release of the node that runs the operator; None: nobody knows it.
    """

    nodes: tuple[Node, ...]
    resources: tuple[KubernetesObject, ...]
    objects: tuple[KubernetesObject, ...] = ()
    namespace: str = "gpu-operator"
    os_release: Mapping[str, str] | None = None
    service_monitors: bool = False
    api_versions: frozenset[str] = frozenset()


@record
class ResourceCondition:
    """The status of one custom resource: `state` is ready, notReady, disabled, ignored, or empty."""

    kind: str
    name: str
    state: str
    conditions: tuple[Mapping[str, str], ...] = ()


@record
class Expansion:
    """The steady state that a release's operator reaches.

    `unknown` says what was not modelled: where it is not empty, nothing else may be taken for the whole truth.
    `errors` are the operator's own, after `<Kind>/<name>: `. `notes` say where a live operator may come out otherwise.
    """

    release: str
    objects: tuple[KubernetesObject, ...] = ()
    node_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    node_annotations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    runtime: str = ""
    conditions: tuple[ResourceCondition, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def object_order(item: KubernetesObject) -> tuple[str, str, str]:
    """Kind, namespace, name."""
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace", ""), metadata["name"]


def in_order(objects: Iterable[KubernetesObject]) -> tuple[KubernetesObject, ...]:
    return tuple(sorted(objects, key=object_order))
