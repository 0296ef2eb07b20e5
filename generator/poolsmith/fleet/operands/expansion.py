"""What the operator will create, what it looks at while it decides, and all objects of a cluster once it has settled.

Objects are whole Kubernetes objects as plain mappings, in the order of `object_order`.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.latest import Latest
from poolsmith.core.record import record, replace
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.gpu.nodes.node_facts import NodeFacts


KubernetesObject = dict[str, Any]

_MOST_MADE = 2_000
"""Answers that are kept of what the operator makes of one resource."""

NO_OPERANDS = "the operands of release "
"""How it begins when nothing is known of what an operator creates."""


def nothing_known() -> Latest:
    return Latest(_MOST_MADE)


@record
class Node:
    """A node as the operator sees it. `runtime` is its containerRuntimeVersion, as `containerd://1.7.24`, `kubelet` its
    kubeletVersion.

    `pool` is the pool that it stands for, where it is no real one.
    """

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict)
    runtime: str = ""
    taints: tuple[Mapping[str, str], ...] = ()
    pool: str = ""
    kubelet: str = ""

    @property
    def facts(self) -> NodeFacts:
        """What it says of itself, with pointers as the API server has it."""
        from poolsmith.gpu.nodes.kubelet_facts import KUBELET, RUNTIME, facts_of_runtime  # on demand
        from poolsmith.gpu.nodes.label_facts import facts_of_labels  # on demand
        from poolsmith.gpu.nodes.node_facts import one  # on demand

        runtimes, versions = facts_of_runtime(self.runtime, RUNTIME)
        return replace(
            facts_of_labels(self.labels),
            runtimes=runtimes,
            runtime_versions=versions,
            kubelets=one(self.kubelet, KUBELET),
        )


@record
class ClusterState:
    """What stands in the cluster before the operator acts.

    `resources` are the custom resources (ClusterPolicy, NVIDIADriver, GPUCluster), `objects` whatever else exists.
    `os_release` is /etc/os-release of the node that runs the operator; None: nobody knows it. `known` has what was made
    before of the same, by this cluster or by others.
    """

    nodes: tuple[Node, ...]
    resources: tuple[KubernetesObject, ...]
    objects: tuple[KubernetesObject, ...] = ()
    namespace: str = OPERATOR_NAMESPACE
    os_release: Mapping[str, str] | None = None
    service_monitors: bool = False
    api_versions: frozenset[str] = frozenset()
    known: Latest = field(default_factory=nothing_known, compare=False, repr=False)


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


class Maker(StrEnum):
    """Who creates an object."""

    POOLSMITH = "poolsmith"
    CHART = "chart"
    HOOK = "chart hook"
    OPERATOR = "operator"
    OPERAND = "operand"


@record(kw_only=False)
class Made:
    """A whole Kubernetes object, and who creates it.

    `through` names the chart, the unit or the custom resource; of what an operand starts, it is the operand's key.
    """

    body: KubernetesObject
    maker: Maker
    through: str

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def workload(self) -> str:
        return f"{self.body['kind']}/{self.name}"

    @property
    def key(self) -> str:
        """Namespace, kind and name; nothing else in the cluster has all three."""
        metadata = self.body["metadata"]
        return f"{metadata.get('namespace', '')}/{self.body['kind']}/{metadata['name']}"


@record
class Installation:
    """One cluster in its steady state. `nodes` are one for each pool, with the pool's name and all labels.

    `errors` are what the chart or the operator would report, `unknown` what could not be evaluated: where it is not
    empty, there may be more than `made`. `toolkit_overlays` are the objects of pools with a toolkit of their own, by
    pool; `made` has them too.
    """

    release: str
    nodes: tuple[Node, ...] = ()
    made: tuple[Made, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    toolkit_overlays: tuple[tuple[str, tuple[KubernetesObject, ...]], ...] = ()
    resources: tuple[KubernetesObject, ...] = ()
    """The operator's custom resources, as the API server stores them."""

    @property
    def objects(self) -> tuple[KubernetesObject, ...]:
        return tuple(item.body for item in self.made)


class OneOfEqual:
    """Of objects that are equal the first one stands for all: what is known of it by its identity is known of them.

    The oldest are forgotten, so that a fleet of clusters that differ does not grow without bound.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[bytes, KubernetesObject] = {}
        self._firsts: dict[int, KubernetesObject] = {}
        """By identity, which no other has for as long as they are kept."""

    def of(self, made: Iterable[Made]) -> Iterator[Made]:
        for item in made:
            first = self._firsts.get(id(item.body)) or self._first(item.body)
            yield item if first is item.body else Made(first, item.maker, item.through)
        while len(self._known) > self._most:
            del self._firsts[id(self._known.pop(next(iter(self._known))))]

    def _first(self, body: KubernetesObject) -> KubernetesObject:
        first = self._known.setdefault(tree_digest(body), body)
        return self._firsts.setdefault(id(first), first)


def in_made_order(made: list[Made]) -> tuple[Made, ...]:
    return tuple(sorted(made, key=lambda item: object_order(item.body)))
