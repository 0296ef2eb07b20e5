"""From a cluster's plan to all that will stand in the cluster.

Committed by poolsmith, rendered by charts, created by the operator, started by operands: each with who makes it.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.fleet.operands.chart.operator_part import ChartParts, stored
from poolsmith.fleet.operands.child_pods import children, unknown_children
from poolsmith.fleet.operands.daemon_sets.driver_pod import UNKNOWN_OPERATOR_HOST
from poolsmith.fleet.operands.expansion import ClusterState, Installation, Made, Maker, in_made_order
from poolsmith.fleet.operands.operator_expansion import expand
from poolsmith.fleet.plan.origin import Derived
from poolsmith.gpu.catalog.chart_workloads import parents_of_pods
from poolsmith.gpu.catalog.node_labels import OS_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.operands.expansion import Expansion, KubernetesObject, Node
    from poolsmith.fleet.plan.plan import ClusterPlan, GitSource, ToolkitOverlay, UnitPlan
    from poolsmith.gpu.catalog.charts import Chart

_NOWHERE = Derived("installation", "the same, wherever it was written")


@record
class InstallationInput:
    """All that an installation follows from; two clusters with the same input have the same one.

    `values` are what differs from the defaults of `chart`, the operator's; without it there is no operator.
    """

    release: str
    namespace: str
    nodes: tuple[Node, ...]
    values: dict[str, Any] = field(default_factory=dict)
    resources: tuple[KubernetesObject, ...] = ()
    units: tuple[UnitPlan, ...] = ()
    chart: Chart | None = None
    committed: tuple[KubernetesObject, ...] = ()
    overlays: tuple[ToolkitOverlay, ...] = ()
    api_versions: frozenset[str] = frozenset()
    """APIs that the cluster serves, of those that the chart or the operator asks for."""

    @property
    def key(self) -> str:
        """The same for two inputs that are equal, wherever their values were written."""
        parts = (
            self.release,
            self.namespace,
            self.nodes,
            self.values,
            self.resources,
            self.chart and (self.chart.name, self.chart.release),
            self.committed,
            [_unit_key(unit) for unit in self.units],
            [replace(overlay, origin=_NOWHERE) for overlay in self.overlays],
            sorted(self.api_versions),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def installation_input(plan: ClusterPlan, nodes: tuple[Node, ...], chart: Chart | None) -> InstallationInput:
    """`chart` is the catalog's entry of the chart that the plan installs."""
    from poolsmith.fleet.plan.plan import values_tree  # on demand

    values = values_tree(plan.values)
    return InstallationInput(
        release=plan.cluster.spec.stack.release,
        namespace=plan.namespace,
        nodes=nodes,
        values=values,
        resources=tuple(item.body for item in plan.driver_objects),
        units=plan.units,
        chart=chart,
        committed=(*(item.body for item in plan.config_maps), *plan.brought),
        overlays=plan.toolkit_overlays,
        api_versions=_api_versions(plan, values),
    )


def _api_versions(plan: ClusterPlan, values: dict[str, Any]) -> frozenset[str]:
    """As Flux and Argo CD tell Helm: what the cluster's Kubernetes serves; asked for only for a GPUCluster."""
    if not value_at(values, ("gpuCluster", "deployCR")):
        return frozenset()
    from poolsmith.gpu.catalog.gpu_clusters import served_by  # on demand

    return served_by(plan.cluster.spec.stack.release, plan.cluster.spec.kubernetes.version)


def install(given: InstallationInput, charts: ChartParts | None = None) -> Installation:
    """The steady state. Raises nothing: what can't be evaluated is in `unknown`. `charts` remembers between calls."""
    building = _Building(given, charts or ChartParts())
    if given.chart is not None:
        building.add_operator(given.chart)
    for unit in given.units:
        building.add_unit(unit)
    building.add_children()
    return building.installation()


class _Building:
    """Collects what the steps bring."""

    def __init__(self, given: InstallationInput, charts: ChartParts) -> None:
        self.given = given
        self.charts = charts
        self.made: list[Made] = []
        self.errors: list[str] = []
        self.unknown: list[str] = []
        self.notes: list[str] = []
        self.node_labels: dict[str, Any] = {node.name: node.labels for node in given.nodes}
        self.overlays: dict[str, tuple[KubernetesObject, ...]] = {}
        self.resources: tuple[KubernetesObject, ...] = ()

    def add_operator(self, chart: Chart) -> None:
        given = self.given
        part = self.charts.of(chart, given.values, given.namespace, given.api_versions)
        self.made.extend(part.made)
        self.errors.extend(part.errors)
        self.unknown.extend(part.unknown)
        if part.resources:
            drivers, refused = stored(given.release, given.resources)
            self.errors.extend(refused)
            self.resources = (*part.resources, *drivers)
            self._add_expansion((*part.existing, *given.committed))
            for overlay in given.overlays:
                self._add_overlay(overlay, part.resources)

    def _add_overlay(self, overlay: ToolkitOverlay, resources: tuple[KubernetesObject, ...]) -> None:
        from poolsmith.fleet.operands.toolkit_overlay import overlay_objects  # on demand

        given = self.given
        found = overlay_objects(given.release, resources, given.nodes, overlay, given.namespace)
        self.overlays[overlay.pool] = found.objects
        through = f"container toolkit for {overlay.runtime}"
        self.made.extend(Made(item, Maker.POOLSMITH, through) for item in found.objects)
        self.errors.extend([found.error] if found.error is not None else [])
        self.unknown.extend([found.unknown] if found.unknown is not None else [])

    def _add_expansion(self, existing: tuple[KubernetesObject, ...]) -> None:
        given = self.given
        state = ClusterState(
            known=self.charts.made,
            nodes=given.nodes,
            resources=self.resources,
            objects=existing,
            namespace=given.namespace,
            service_monitors=True,
            api_versions=given.api_versions,
        )
        expansion = expand_on_pools(given.release, state)
        self.made.extend(Made(item, Maker.OPERATOR, _owner(item)) for item in expansion.objects)
        self.errors.extend((*expansion.errors, *failures(expansion)))
        self.unknown.extend(expansion.unknown)
        self.notes.extend(expansion.notes)
        self.node_labels |= {name: labels for name, labels in expansion.node_labels.items() if name in self.node_labels}

    def add_unit(self, unit: UnitPlan) -> None:
        self.made.extend(Made(item.body, Maker.POOLSMITH, unit.title) for item in unit.objects)
        if unit.source is not None:
            self._add_source(unit, unit.source)
        if unit.chart is not None:
            from poolsmith.fleet.plan.plan import values_tree  # on demand

            through = f"{unit.chart.name} {unit.chart.version}"
            found = stack_objects(unit.chart.name, unit.chart.version, values_tree(unit.values), unit.namespace)
            self.made.extend(Made(item, Maker.CHART, through) for item in found.objects)
            self.made.extend(Made(item, Maker.HOOK, through) for item in found.hooks)
            self.unknown.extend(found.unknown)
            self.errors.extend(error.message for error in found.errors)

    def _add_source(self, unit: UnitPlan, source: GitSource) -> None:
        """What somebody else's kustomization brings, and what its operator makes of the unit's own objects."""
        from poolsmith.fleet.operands.cc_runtime import KIND, brought_objects, made_of  # on demand

        brought = brought_objects(source, unit.namespace)
        if brought is None or brought.errors:
            self.unknown.append(brought_by(unit))
            return
        self.made.extend(Made(item, Maker.CHART, unit.title) for item in brought.objects)
        for runtime in (item.body for item in unit.objects if item.body["kind"] == KIND):
            made = made_of(runtime, unit.namespace)
            through = f"{KIND}/{runtime['metadata']['name']}"
            self.made.extend(Made(item, Maker.OPERATOR, through) for item in made.lasting)
            self.made.extend(Made(item, Maker.HOOK, unit.title) for item in made.on_deletion)

    def add_children(self) -> None:
        """Pods that an operand starts itself, through the API server."""
        release = self.given.release
        parents = {item.workload: item for item in self.made if item.workload in parents_of_pods()}
        objects = [item.body for item in parents.values()]
        # the objects are kept: as long as they live, no others have their identity
        known = self.charts.made.of(
            (release, *map(id, objects)),
            lambda: (children(release, objects), unknown_children(release, objects), objects),
        )
        self.made.extend(Made(child.pod, Maker.OPERAND, parents[child.parent].key) for child in known[0])
        self.unknown.extend(known[1])

    def _twice(self) -> Iterator[str]:
        """Objects that two would write over and over, so that nobody knows which one stands in the cluster."""
        first: dict[str, Made] = {}
        for item in self.made:
            other = first.setdefault(item.key, item)
            if other is not item:
                makers = f"the {other.maker} ({other.through}) and the {item.maker} ({item.through})"
                yield f"{item.workload} is made twice: by {makers}"

    def installation(self) -> Installation:
        given = self.given
        self.errors.extend(self._twice())
        nodes = tuple(replace(node, labels=self.node_labels[node.name]) for node in given.nodes)
        return Installation(
            release=given.release,
            nodes=nodes,
            made=in_made_order(self.made),
            errors=tuple(dict.fromkeys(self.errors)),
            unknown=tuple(dict.fromkeys(self.unknown)),
            notes=tuple(dict.fromkeys(self.notes)),
            toolkit_overlays=tuple(sorted(self.overlays.items())),
            resources=self.resources,
        )


def brought_by(unit: UnitPlan) -> str:
    """What is not known of a unit that is somebody else's; empty of any other."""
    source = unit.source
    return f"what {source.repository} at {source.revision} brings, for {unit.title}" if source is not None else ""


def _unit_key(unit: UnitPlan) -> tuple[Any, ...]:
    values = [(setting.path, setting.value) for setting in unit.values]
    return unit.name, unit.namespace, unit.title, [item.body for item in unit.objects], values, unit.chart, unit.source


def failures(expansion: Expansion) -> Iterator[str]:
    """What stands in conditions only; of a resource that the errors name, the condition says the same again."""
    for condition in expansion.conditions:
        name = f"{condition.kind}/{condition.name}: "
        message = next((item["message"] for item in condition.conditions if item["message"]), "")
        if condition.state != "ready" and message and not any(error.startswith(name) for error in expansion.errors):
            yield name + message


def _owner(item: KubernetesObject) -> str:
    """The custom resource for which the operator makes an object."""
    for owner in item["metadata"].get("ownerReferences", ()):
        return f"{owner['kind']}/{owner['name']}"
    return "operator"


def expand_on_pools(release: str, state: ClusterState) -> Expansion:
    """Expansion where only the pools are known, and not the node that runs the operator.

    Up to v25.10 that node's /etc/os-release decides which package subscriptions of the host a driver mounts. Where all
    nodes run one system, it is taken for that one, and `unknown` says so.
    """
    expansion = expand(release, state)
    systems = {node.labels.get(OS_ID, "") for node in state.nodes}
    if len(systems) != 1 or not any(UNKNOWN_OPERATOR_HOST in text for text in expansion.unknown):
        return expansion
    system = min(systems)
    told = tuple(
        f"{text}: taken for {system}, like all pools" if UNKNOWN_OPERATOR_HOST in text else text
        for text in expansion.unknown
    )
    assumed = expand(release, replace(state, os_release={"ID": system}))
    return replace(assumed, unknown=tuple(dict.fromkeys((*told, *assumed.unknown))))
