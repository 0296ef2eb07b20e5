"""What reaches one cluster, together: its objects, the charts that are installed, and what is written of its nodes.

A name is needed in one place and supplied in another; rules over both see the whole. What nobody delivers, as far as
the files say, is a view of its own, in which nothing is known to be absent.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import container_places, mapping, pod_template_of, pod_template_pointer, word
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.gpu.catalog.gpu_requests import brings_gpus, custom_pods, is_gpu_resource, resources_of
from poolsmith.gpu.catalog.node_labels import SelectedNodes
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS, OPERATOR
from poolsmith.guard.rules.names.need import OPEN
from poolsmith.kubernetes.repository.chart_folders import deciding
from poolsmith.kubernetes.repository.manifest_files import CheckedTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.policies.external_names import ExternalBook
    from poolsmith.guard.rules.names.need import Need, Offer, Supply
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject
    from poolsmith.kubernetes.repository.flux import Emptied
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate


@record(slots=False, eq=False)
class LinkedChart:
    """A chart as it is installed. `values` are the user's, `defaults` the chart's own, None where nobody knows them.

    `partial`: more values come from elsewhere. `place` takes dotted paths of values.
    """

    name: str
    version: str | None
    values: Mapping[str, Any]
    defaults: Mapping[str, Any] | None
    place: Callable[[str], Location]
    declared_at: Location
    namespace: str | None = None
    release_name: str | None = None
    partial: bool = False
    engine: str = ""
    """Which engine installs it: `flux`, `argocd` or `k3s`, or nothing that is known."""
    namespace_wanted_at: Location | None = None
    """Where an engine names a namespace that it does not make itself."""
    by_kustomize: bool = False
    """Whether kustomize renders it, with all that it does to objects of its own."""
    is_around: bool = False
    """Whether these are the own values of a chart that has it as a dependency."""

    @property
    def is_operator(self) -> bool:
        return self.name in OPERATOR

    def value(self, path: str) -> Any:
        """As Helm has it; MISSING where neither the user nor a known default says it, or nobody can tell."""
        steps = path.split(".")
        node: Any = self.values
        for step in steps:
            if not isinstance(node, dict):
                return MISSING
            if step not in node:
                return MISSING if self.partial else value_at(self.defaults or {}, steps, MISSING)
            node = node[step]
        return node

    def known(self, path: str) -> Any:
        """The value, or None."""
        found = self.value(path)
        return None if found is MISSING else found

    def condition(self, paths: str) -> bool | None:
        """The first of these values that is a boolean, as Helm reads a dependency's `condition`."""
        return deciding(paths, self.value)[1]

    def says(self, path: str) -> bool:
        """Whether the user's own values say something there."""
        return value_at(self.values, path.split("."), MISSING) is not MISSING


@record(slots=False, eq=False)
class Machines:
    """What files say of nodes to come, read by the first rule that asks."""

    tree: CheckedTree
    described: Callable[[], Iterator[NodeTemplate]] = lambda: iter(())
    """Descriptions of nodes, in documents and in other files."""

    @cached_property
    def templates(self) -> tuple[NodeTemplate, ...]:
        return tuple(self.described())

    @cached_property
    def images(self) -> dict[str, Location]:
        """The first place of each image of nodes."""
        from poolsmith.guard.rules.links.machine_images import machine_images  # on demand

        return machine_images(self.tree.documents)

    @cached_property
    def whole(self) -> tuple[NodeTemplate, ...]:
        """Those of which nothing is said elsewhere."""
        return tuple(item for item in self.templates if not item.is_partial)

    @cached_property
    def by_labels(self) -> SelectedNodes:
        """Finds those by what a pod selects."""
        return SelectedNodes([{mark.key: mark.value or "" for mark in item.labels} for item in self.whole])

    @cached_property
    def made(self) -> dict[str, object]:
        """What rules share, by a name."""
        return {}


NO_MACHINES = Machines(tree=CheckedTree((), frozenset()))


@record(slots=False, eq=False)
class LinkedPod:
    """The template of a workload's pods; `at` is the pointer to its spec in the object. `moved`: no spec of a pod
    stands there, and the pointers to what is known of one, by those in a spec."""

    owner: SetupObject
    spec: Mapping[str, Any]
    at: str
    moved: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def containers(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """Each with the pointer to it in the spec."""
        return tuple((f"/{field}/{index}", container) for field, index, container in container_places(self.spec))

    @property
    def selector(self) -> dict[str, str]:
        return {str(key): str(value) for key, value in mapping(self.spec.get("nodeSelector")).items()}

    @cached_property
    def images(self) -> tuple[str, ...]:
        return tuple(word(container.get("image")) for _, container in self.containers)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The resources that its containers ask for; some of them twice."""
        return tuple(resources_of(self.spec))

    @cached_property
    def gpu_resources(self) -> tuple[str, ...]:
        """Those that are GPUs."""
        return tuple(filter(is_gpu_resource, self.asked))

    @cached_property
    def asks_for_gpus(self) -> bool:
        return bool(self.gpu_resources) or brings_gpus(self.spec)

    @property
    def namespace(self) -> str:
        return word(self.owner.metadata.get("namespace"))

    def place(self, pointer: str) -> Location:
        top = next((top for top in self.moved if pointer.startswith(top)), None)
        return self.owner.place(f"{self.at}{pointer}" if top is None else self.moved[top] + pointer[len(top) :])


@record(kw_only=False)
class Domain:
    """A kind of which not objects alone supply what is needed, with what each view needs and offers of it."""

    kind: str
    needs: Callable[[LinkView], Iterable[Need]] = lambda _: ()
    offers: Callable[[LinkView], Iterable[Offer]] = lambda _: ()
    supply: Callable[[LinkView], Supply] = lambda _: OPEN


@record(slots=False, eq=False)
class LinkView:
    """`is_whole`: an engine or a kustomization brings all of it together. `labels_said` are labels that files about
    machines give to nodes, whoever reads them; `nodes` are None where nobody gave any."""

    objects: tuple[SetupObject, ...]
    charts: tuple[LinkedChart, ...]
    kustomizations: tuple[SetupObject, ...] = ()
    unlisted: tuple[SetupObject, ...] = ()
    """What stands beside these kustomizations, in files that nobody delivers."""
    nodes: tuple[SetupNode, ...] | None = None
    is_whole: bool = False
    labels_said: frozenset[str] = frozenset()
    distributions: frozenset[str] = frozenset()
    """Distributions that the files configure machines of, such as talos."""
    enforced_by: str = ""
    """Of these the one that enforces a Pod Security level in each namespace that says none."""
    engines: Mapping[str, str] = field(default_factory=dict)
    """Minor versions of the engines that the files install."""
    is_upgrade: bool = False
    """Whether these are held against others: what changes for new objects alone counts too."""
    emptied: tuple[Emptied, ...] = ()
    """Variables of Flux that nothing stands for."""
    units: tuple[tuple[SetupObject, ...], ...] = ()
    """What an engine applies at once."""
    machines: Machines = NO_MACHINES
    """Descriptions of nodes anywhere in the files, of whichever cluster."""
    cluster: str = ""
    """The folder where its delivery begins."""
    is_alone: bool = False
    """Whether no other delivery of the files has charts of the stack: what they say of nodes is about these."""
    external: ExternalBook | None = None
    """Names that come from outside, as policies/external.yaml says, where that is kept."""
    domains: tuple[Domain, ...] = ()
    """Of the rules that look at it."""
    made: dict[str, object] = field(default_factory=dict)
    """What rules share, by a name."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that a finding could be about; descriptions of machines alone are nothing."""
        return not (self.objects or self.charts or self.kustomizations or self.emptied or self.units)

    @cached_property
    def _by_kind(self) -> dict[str, list[tuple[int, SetupObject]]]:
        found: dict[str, list[tuple[int, SetupObject]]] = {}
        for index, item in enumerate(self.objects):
            found.setdefault(item.kind, []).append((index, item))
        return found

    def of_kind(self, *kinds: str) -> Iterator[SetupObject]:
        """In the order of the files."""
        lists = [self._by_kind.get(kind, []) for kind in dict.fromkeys(kinds)]
        found = lists[0] if len(lists) == 1 else sorted(chain.from_iterable(lists), key=itemgetter(0))
        return (item for _, item in found)

    @cached_property
    def pods(self) -> tuple[LinkedPod, ...]:
        return tuple(_pods(self.objects))

    @cached_property
    def gpu_pods(self) -> tuple[LinkedPod, ...]:
        """Those that ask for GPUs."""
        return tuple(pod for pod in self.pods if pod.asks_for_gpus)

    def texts_of(self, name: str) -> Mapping[str, Any] | None:
        """What the ConfigMap of a name holds; None where it is not among the files."""
        found = next((item for item in self.of_kind("ConfigMap") if item.own_name == name), None)
        return None if found is None else mapping(found.data.get("data"))

    @cached_property
    def namespaces(self) -> dict[str, SetupObject]:
        return {item.own_name: item for item in self.of_kind("Namespace") if not item.group}

    def named(self, *names: str) -> Iterator[LinkedChart]:
        return (chart for chart in self.charts if chart.name in names)


def _pods(objects: Sequence[SetupObject]) -> Iterator[LinkedPod]:
    """Those of workloads, and of custom resources that controllers make pods of."""
    for item in objects:
        for pod in custom_pods(item.data, item.kind, item.group):
            yield LinkedPod(owner=item, spec=pod.spec, at=pod.at, moved=pod.moved)
        template, at = pod_template_of(item.data), pod_template_pointer(item.data)
        if template is not None and at is not None:
            spec = mapping(template.get("spec"))
            if spec:
                yield LinkedPod(owner=item, spec=spec, at=f"{at}/spec")


def chart_defaults(chart: str, version: str | None) -> Mapping[str, Any] | None:
    """The chart's own values at a version that the catalog knows, of the DRA driver's those that rules ask for; None of
    any other."""
    if chart in DRA_DRIVER_CHARTS:
        rows = store.table("dra.yaml")["chartValues"]
        return next((row["values"] for row in rows if version and covers(row["versions"], version)), None)
    entry = read_chart_workloads(chart, (version or "").removeprefix("v")) or read_chart_workloads(chart, version or "")
    return None if entry is None else entry.defaults
