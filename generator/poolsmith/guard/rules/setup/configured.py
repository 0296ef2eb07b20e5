"""What the operator makes of the values and custom resources of a setup, and what it would make without one of them.

Each leaf of what somebody wrote can be taken away, and the prediction asked again: so the line that brings something
about is found without a table. Nodes are those that are given; where nobody gives any, there is one of each kind.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, join, leaves_of, value_at
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.expansion import ClusterState, Node, object_order
from poolsmith.fleet.operands.install import expand_on_pools, failures
from poolsmith.gpu.api_server import kept
from poolsmith.gpu.catalog.chart_contents import image_components
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.node_labels import (
    ARCHITECTURE,
    CC_CAPABLE,
    GPU_PRESENT,
    KERNEL,
    MIG_CONFIG,
    OS_ID,
    OS_VERSION,
    PCI_NVIDIA,
    WORKLOAD,
    WORKLOADS,
)
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAMESPACE
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.guard.rules.names.kept import kept as kept_by_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import Place, SetupNode, SetupView


Steps = tuple[str, ...]
POLICY, DRIVER, CLAIMS = _RESOURCES = "ClusterPolicy", "NVIDIADriver", "GPUCluster"
_GROUP = "nvidia.com/"
_IMAGE = ("repository", "image", "version")
_MOST_TRIED = 400
_MOST_OBJECTS = 40
_MOST_NODES = 40
_OF_THE_OPERATOR = ("nvidia.com/", "feature.node.kubernetes.io/", "kubernetes.io/arch")


@record
class Part:
    """A tree that somebody wrote: Helm values, or the spec of a custom resource (`body`)."""

    tree: Mapping[str, Any]
    place: Place
    body: Mapping[str, Any] | None = None

    def at(self, steps: Steps, note: str | None = None) -> Location:
        return self.place(join("" if self.body is None else "/spec", *steps), note)


@record(kw_only=False)
class Leaf:
    """A value that stands in the part of that index; lists are whole."""

    part: int
    steps: Steps
    value: Any

    @property
    def dotted(self) -> str:
        return ".".join(self.steps)


@record
class Outcome:
    """What the operator creates, without its own custom resources; the labels of nodes; what it reports as an error."""

    objects: tuple[dict[str, Any], ...] = ()
    node_labels: Mapping[str, Mapping[str, str]]
    errors: tuple[str, ...] = ()


class Configured:
    """The parts of a setup. `trees` in the calls stand in the place of what was written, in the order of `parts`."""

    def __init__(self, view: SetupView) -> None:
        self._view = view
        self.parts = tuple(_parts(view))
        self._stored_parts: dict[int, list[dict[str, Any]] | None] = {}

    @property
    def release(self) -> str:
        assert self._view.tag is not None, "asked for with a release only"
        return self._view.tag

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """In the order of the files."""
        return tuple(Leaf(index, *leaf) for index, part in enumerate(self.parts) for leaf in leaves_of(part.tree))

    @property
    def is_huge(self) -> bool:
        """Whether there are more leaves than can be taken away one after the other."""
        return len(self.leaves) > _MOST_TRIED

    def tried(self, is_likely: Callable[[Leaf], bool]) -> Sequence[Leaf]:
        """The leaves that are taken away to see what comes of it: of huge files so many, the likely ones first."""
        if not self.is_huge:
            return self.leaves
        return sorted(self.leaves, key=lambda leaf: not is_likely(leaf))[:_MOST_TRIED]

    @property
    def left_out(self) -> int:
        """Custom resources and kinds of nodes of which nothing is predicted: they are too many."""
        kinds = (len(self._view.of_kind(kind, "nvidia.com")) for kind in _RESOURCES)
        return sum(max(number - _MOST_OBJECTS, 0) for number in kinds) + max(len(self._kinds) - _MOST_NODES, 0)

    @property
    def trees(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(part.tree for part in self.parts)

    @cached_property
    def written(self) -> Outcome | None:
        """None where nothing can be said: the chart or the API server refuses what is written."""
        return self.outcome(self.trees)

    @cached_property
    def usual(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """What the operator makes of the chart's defaults: nothing in it is somebody's own word."""
        made = self.outcome(({}, *self.trees[1:])) if self.parts[0].body is None else None
        return {} if made is None else {object_order(item): item for item in made.objects}

    def without(self, *leaves: Leaf) -> tuple[Mapping[str, Any], ...]:
        trees = list(self.trees)
        for leaf in leaves:
            trees[leaf.part] = cut(trees[leaf.part], leaf.steps)
        return tuple(trees)

    def outcome_without(self, *leaves: Leaf) -> Outcome | None:
        return self.outcome(self.without(*leaves)) if leaves else self.written

    def outcome(self, trees: tuple[Mapping[str, Any], ...]) -> Outcome | None:
        resources = self.resources(trees)
        if resources is None:
            return None
        state = ClusterState(
            nodes=self._nodes,
            resources=resources,
            namespace=self._view.namespace or OPERATOR_NAMESPACE,
            service_monitors=True,
            api_versions=self._api_versions,
        )
        expansion = expand_on_pools(self.release, state)
        return Outcome(
            objects=tuple(item for item in expansion.objects if not str(item["apiVersion"]).startswith(_GROUP)),
            node_labels=expansion.node_labels,
            errors=tuple(dict.fromkeys((*expansion.errors, *failures(expansion)))),
        )

    def resources(self, trees: tuple[Mapping[str, Any], ...]) -> tuple[dict[str, Any], ...] | None:
        """The custom resources, as the API server stores them."""
        found: list[dict[str, Any]] = []
        for index, tree in enumerate(trees):
            stored = self._written(index) if tree is self.parts[index].tree else self._stored(index, tree)
            if stored is None:
                return None
            found += stored
        return tuple(found)

    def _written(self, index: int) -> list[dict[str, Any]] | None:
        """Of what was written in a part: of several objects all but one stay as they are."""
        if index not in self._stored_parts:
            self._stored_parts[index] = self._stored(index, self.parts[index].tree)
        return self._stored_parts[index]

    def _stored(self, index: int, tree: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        body = self.parts[index].body
        written = None if body is None else _with_images({**body, "spec": dict(tree)}, self.release)
        bodies = self._rendered(tree) if written is None else [written]
        stored = [kept(item, self.release) for item in bodies or ()]
        return None if bodies is None or None in stored else [item for item in stored if item is not None]

    def _rendered(self, values: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        projection, chart = read_projection(self.release), read_chart(OPERATOR_CHART, self.release)
        if projection is None or chart is None:
            return None
        projected = project(projection, chart.defaults, dict(values), HelmRelease(api_versions=self._api_versions))
        return None if projected.errors else list(projected.objects)

    @cached_property
    def _api_versions(self) -> frozenset[str]:
        from poolsmith.gpu.catalog.gpu_clusters import served_by  # on demand

        return served_by(self.release, None)

    @cached_property
    def _nodes(self) -> tuple[Node, ...]:
        if self._view.nodes is None:
            return (*one_of_each(), *_selected(self.parts))
        return self._kinds[:_MOST_NODES]

    @cached_property
    def _kinds(self) -> tuple[Node, ...]:
        return tuple(_unlike(self._view.nodes or (), {key for part in self.parts for key in _selector(part)}))


@kept_by_view
def configured(view: SetupView) -> Configured:
    return Configured(view)


def _parts(view: SetupView) -> Iterator[Part]:
    if view.values is not None and not view.values.of_policy:
        yield Part(tree=view.values.values, place=view.values.place)
    for kind in _RESOURCES:
        for item in view.of_kind(kind, "nvidia.com")[:_MOST_OBJECTS]:
            if item.own_name:
                yield Part(tree=item.spec, place=item.place, body=item.data)


_SYSTEM = {
    PCI_NVIDIA: "true",
    GPU_PRESENT: "true",
    ARCHITECTURE: "amd64",
    OS_ID: "ubuntu",
    OS_VERSION: "22.04",
    KERNEL: "5.15.0-105-generic",
    "nvidia.com/mig.capable": "true",
    MIG_CONFIG: "all-disabled",
    CC_CAPABLE: "true",
}


def one_of_each() -> tuple[Node, ...]:
    """A node for each workload that the operator knows, each as one on which every operand has something to do."""
    return tuple(
        Node(
            name=name, labels={**_SYSTEM, WORKLOAD: name, "kubernetes.io/hostname": name}, runtime="containerd://2.1.3"
        )
        for name in WORKLOADS
    )


def _selected(parts: Iterable[Part]) -> Iterator[Node]:
    """A node for each driver object that selects by labels of its own."""
    for number, part in enumerate(parts):
        if selector := _selector(part):
            yield Node(name=f"selected-{number}", labels={**_SYSTEM, **selector}, runtime="containerd://2.1.3")


def _selector(part: Part) -> dict[str, str]:
    """The labels that a driver object selects by; empty where it selects by none, or by what is no label."""
    selector = part.tree.get("nodeSelector") if part.body is not None else None
    if not isinstance(selector, dict) or not all(isinstance(value, str) for value in selector.values()):
        return {}
    return {str(key): value for key, value in selector.items()}


def _unlike(nodes: Iterable[SetupNode], asked: set[str]) -> Iterator[Node]:
    """One for all that are alike to the operator."""
    seen: set[tuple[Any, ...]] = set()
    for node in nodes:
        labels = {key: value for key, value in node.labels.items() if key.startswith(_OF_THE_OPERATOR) or key in asked}
        runtime = f"{node.runtime}://{node.runtime_version}" if node.runtime else ""
        kind = (runtime, tuple(sorted(labels.items())))
        if kind not in seen:
            seen.add(kind)
            yield Node(name=node.name, labels=labels, runtime=runtime)


def _with_images(body: dict[str, Any], release: str) -> dict[str, Any]:
    """Components that name no image at all get the chart's: under OLM the operator has them in its environment."""
    if body.get("kind") != POLICY:
        return body
    chart = read_chart(OPERATOR_CHART, release)
    if chart is None:
        return body
    for component in image_components(release):
        steps = tuple(component.split("."))
        images = {key: chart.default((*steps, key)) for key in _IMAGE}
        if images["repository"] and all(not value_at(body, ("spec", *steps, key)) for key in _IMAGE):
            body = _put(body, ("spec", *steps), {**images, "version": images["version"] or release})
    return body


def _put(tree: dict[str, Any], steps: Steps, more: dict[str, Any]) -> dict[str, Any]:
    if not steps:
        return {**tree, **more}
    below = tree.get(steps[0])
    if below is not None and not isinstance(below, dict):
        return tree
    return {**tree, steps[0]: _put(below or {}, steps[1:], more)}


def cut(tree: Mapping[str, Any], steps: Steps) -> Mapping[str, Any]:
    """The tree without what stands there; the same where nothing does."""
    if value_at(tree, steps, MISSING) is MISSING:
        return tree
    first, *rest = steps
    if not rest:
        return {key: value for key, value in tree.items() if key != first}
    return {**tree, first: cut(tree[first], tuple(rest))}


def by_likelihood(leaves: Iterable[Leaf]) -> list[Leaf]:
    """Switches last: they turn whole parts off, and with them whatever was wrong there."""
    return sorted(leaves, key=lambda leaf: isinstance(leaf.value, bool))
