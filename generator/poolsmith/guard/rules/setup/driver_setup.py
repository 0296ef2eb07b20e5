"""Who describes the drivers of a setup, and for which nodes: driver objects, their selectors, the ClusterPolicy.

A selector is a map of labels that a node must have, each with its value. Two of them exclude each other when some label
has two values; else there is a node that both match, and its labels are the union of the two.

Source: NVIDIA/gpu-operator: deployments/gpu-operator/templates/{clusterpolicy,nvidiadriver}.yaml at the recorded tags,
controllers/nvidiadriver_controller.go, controllers/state_manager.go.
Source of who serves a node: NVIDIA/gpu-operator@v26.3.3:internal/validator/validator.go,
NVIDIA/gpu-operator@v26.7.0:internal/nvidiadriver/nvidiadriver.go.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.node_labels import DEPLOY_DRIVER, GPU_PRESENT, WORKLOAD, matches
from poolsmith.gpu.drivers.driver_support import carries_driver
from poolsmith.guard.rules.names.kept import kept
from poolsmith.guard.rules.setup.setup_view import takes_operands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import Place, SetupNode, SetupView


def are_compatible(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether some node can match both."""
    if len(other) < len(one):
        one, other = other, one
    return all(other.get(key, value) == value for key, value in one.items())


def compatible_pairs(selectors: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int]]:
    """Each pair that some node can match, as positions, the smaller one first; in no particular order.

    Selectors that differ in one label are told apart by it, without looking at each pair.
    """
    pending = [list(range(len(selectors)))]
    while pending:
        group = pending.pop()
        key = _telling_label(selectors, group)
        if key is None:
            yield from combinations(group, 2)
            continue
        by_value: dict[str, list[int]] = {}
        without = []
        for index in group:
            value = selectors[index].get(key)
            if value is None:
                without.append(index)
            else:
                by_value.setdefault(value, []).append(index)
        pending.extend(found for found in (*by_value.values(), without) if len(found) > 1)
        for index in without:
            for found in by_value.values():
                for other in found:
                    if are_compatible(selectors[index], selectors[other]):
                        yield min(index, other), max(index, other)


def _telling_label(selectors: Sequence[Mapping[str, str]], group: list[int]) -> str | None:
    """The label that parts a group best; None where no label has two values, so that each pair is compatible."""
    carriers: Counter[str] = Counter()
    values: dict[str, set[str]] = {}
    for index in group:
        for key, value in selectors[index].items():
            carriers[key] += 1
            values.setdefault(key, set()).add(value)
    telling = [key for key, found in values.items() if len(found) > 1]
    return max(telling, key=lambda key: (carriers[key], len(values[key]), key), default=None)


class SelectorIndex:
    """Finds the selectors that a node matches without asking each of them."""

    def __init__(self, selectors: Sequence[Mapping[str, str]]) -> None:
        self._selectors = selectors
        shared = Counter(item for selector in selectors for item in selector.items())
        self._by_label: dict[tuple[str, str], list[int]] = {}
        self._always: list[int] = []
        for index, selector in enumerate(selectors):
            rarest = min(selector.items(), key=lambda item: (shared[item], item), default=None)
            if rarest is None:
                self._always.append(index)
            else:
                self._by_label.setdefault(rarest, []).append(index)

    def matching(self, labels: Mapping[str, str]) -> list[int]:
        """Positions, in order."""
        asked = [index for item in labels.items() for index in self._by_label.get(item, ())]
        return sorted([*self._always, *(index for index in asked if matches(labels, self._selectors[index]))])


@record(kw_only=False)
class DriverSelector:
    """A driver object's selector as the operator goes by it; `is_default` serves whatever no other one does."""

    selector: Mapping[str, str]
    is_default: bool = False


@record(kw_only=False)
class Serving:
    """For each set of labels the positions of the objects that want to serve a node with them.

    One: it is served. None: it is not. Several: the operator refuses.
    """

    by_node: tuple[tuple[int, ...], ...]

    @property
    def unserved(self) -> tuple[int, ...]:
        return tuple(index for index, found in enumerate(self.by_node) if not found)

    @property
    def contested(self) -> tuple[int, ...]:
        return tuple(index for index, found in enumerate(self.by_node) if len(found) > 1)

    def idle(self, count: int) -> tuple[int, ...]:
        """Which of `count` objects serve no node."""
        used = {index for found in self.by_node for index in found}
        return tuple(index for index in range(count) if index not in used)


def serve(drivers: Sequence[DriverSelector], nodes: Iterable[Mapping[str, str]], *, by_owner: bool) -> Serving:
    """Which objects each node falls to. `by_owner`: releases that know a default, which steps back for any other."""
    defaults = [index for index, driver in enumerate(drivers) if by_owner and driver.is_default]
    others = [index for index, driver in enumerate(drivers) if not (by_owner and driver.is_default)]
    index = SelectorIndex([drivers[position].selector for position in others])
    found = []
    for labels in nodes:
        chosen = tuple(others[position] for position in index.matching(labels))
        found.append(chosen or tuple(defaults))
    return Serving(tuple(found))


GROUP = "nvidia.com"
KIND = "NVIDIADriver"
CHART_NAME = "default"
ENABLED = "driver.nvidiaDriverCRD.enabled"
DEFAULT = "driver.nvidiaDriverCRD.deployDefaultCR"
OWNER = "owner"
MOST_OBJECTS = 5_000
_OUTSIDE = ("preinstalled", "os")
_OF_GUESTS = ("vm-passthrough", "vm-vgpu")
_WORKLOADS = ("container", *_OF_GUESTS)
"""What the label takes; any other value falls back to the cluster's default."""


@record
class DriverObject:
    """An NVIDIADriver of a file, or the one that the chart makes. `stated` is None where it has no nodeSelector."""

    name: str
    spec: Mapping[str, Any]
    stated: Mapping[str, str] | None
    is_default: bool
    place: Place
    of_chart: bool = False

    @property
    def shown(self) -> str:
        return f"the chart's NVIDIADriver `{self.name}`" if self.of_chart else f"NVIDIADriver `{self.name}`"

    @property
    def selector(self) -> Mapping[str, str]:
        """As the operator goes by it: without one all GPU nodes, with an empty one all nodes."""
        return {GPU_PRESENT: "true"} if self.stated is None else self.stated

    @property
    def precompiled(self) -> bool:
        return self.spec.get("usePrecompiled") is True

    def text(self, *path: str) -> str:
        """A text of the spec; empty where there is none."""
        value = value_at(self.spec, path)
        return value if isinstance(value, str) else ""

    def at(self, pointer: str, note: str | None = None) -> Location:
        """A line of the spec; of the chart's object the values that bring it about."""
        return self.place(pointer, note)


class DriverSetup:
    """`objects` are in the order of the files, the chart's first; of two with one name the first counts."""

    def __init__(self, view: SetupView) -> None:
        self._view = view
        self.by_owner = view.operator is not None and view.operator.driver_object.overlap == OWNER
        self.written = self._written()
        self.chart = self._of_chart()
        found = {item.name: item for item in ([self.chart] if self.chart else []) + self.written}
        self.objects: tuple[DriverObject, ...] = tuple(found.values())[:MOST_OBJECTS]

    @property
    def uses_objects(self) -> bool | None:
        """Whether NVIDIADriver objects describe the drivers; None where nobody says it and there are none."""
        enabled = self._view.flag(ENABLED)
        return enabled if enabled is not None else (True if self.written else None)

    @property
    def policy_installs(self) -> bool | None:
        """Whether the ClusterPolicy describes one driver for all nodes."""
        if self.uses_objects:
            return False
        return self._view.flag("driver.enabled") if self.uses_objects is False else None

    @property
    def nodes(self) -> tuple[SetupNode, ...]:
        return self._view.nodes or ()

    @cached_property
    def serving(self) -> Serving:
        """By the positions of `nodes` and `objects`."""
        return self._serve(self.nodes)

    @cached_property
    def contested(self) -> tuple[tuple[SetupNode, tuple[DriverObject, ...]], ...]:
        """Nodes that several objects select; the operator does not ask whether a node has a GPU."""
        bystanders = self._view.bystanders
        parties = ((self.nodes, self.serving), (bystanders, self._serve(bystanders)))
        return tuple(
            (nodes[index], tuple(self.objects[place] for place in serving.by_node[index]))
            for nodes, serving in parties
            for index in serving.contested
        )

    def _serve(self, nodes: tuple[SetupNode, ...]) -> Serving:
        drivers = [DriverSelector(item.selector, item.is_default) for item in self.objects]
        return serve(drivers, (node.labels for node in nodes), by_owner=self.by_owner)

    @cached_property
    def served(self) -> dict[str, DriverObject]:
        """The one object of each node that has exactly one."""
        found = zip(self.nodes, self.serving.by_node, strict=True)
        return {node.name: self.objects[chosen[0]] for node, chosen in found if len(chosen) == 1}

    def takes_driver(self, node: SetupNode) -> bool:
        """Whether the operator starts a driver pod on the node, once something describes one for it."""
        if node.labels.get(DEPLOY_DRIVER, "true") not in ("true", "") or not takes_operands(node):
            return False
        return not self.is_sandboxed(node)

    def is_sandboxed(self, node: SetupNode) -> bool:
        """Whether its GPUs belong to guests."""
        if node.workload is not None:
            return node.workload != "container"
        if not self._view.flag("sandboxWorkloads.enabled"):
            return False
        asked = node.labels.get(WORKLOAD)
        return (asked if asked in _WORKLOADS else self._view.value("sandboxWorkloads.defaultWorkload")) in _OF_GUESTS

    def brings_own(self, node: SetupNode) -> str | None:
        """`preinstalled` or `os` where the node surely has a driver already."""
        if node.driver is not None:
            return node.driver if node.driver in _OUTSIDE else None
        system = self._view.catalog.operating_systems.get(node.os_id)
        return "os" if carries_driver(system) else None

    def _written(self) -> list[DriverObject]:
        found: dict[str, DriverObject] = {}
        for item in self._view.of_kind(KIND, GROUP):
            spec = item.spec
            made = DriverObject(
                name=item.own_name,
                spec=spec,
                stated=_selector(spec.get("nodeSelector")),
                is_default=self.by_owner and spec.get("default") is True,
                place=item.place,
            )
            found.setdefault(made.name, made)
        return list(found.values())

    def _of_chart(self) -> DriverObject | None:
        view = self._view
        if not (view.value(ENABLED) and view.value(DEFAULT)) or view.operator is None:
            return None

        def place(_pointer: str, note: str | None = None) -> Location:
            return view.value_location(DEFAULT if view.is_set(DEFAULT) else ENABLED, note)

        driver = view.value("driver")
        stated = None if self.by_owner else _selector(view.value("driver.nvidiaDriverCRD.nodeSelector") or None)
        spec = {
            name: value
            for name in ("usePrecompiled", "repository", "image", "version", "rdma", "kernelModuleType")
            if (value := view.value(f"driver.{name}")) is not None
        }
        return DriverObject(
            name=CHART_NAME,
            spec=spec if isinstance(driver, dict) else {},
            stated=stated,
            is_default=self.by_owner,
            place=place,
            of_chart=True,
        )


@kept
def driver_setup(view: SetupView) -> DriverSetup:
    return DriverSetup(view)


def shown_selector(selector: Mapping[str, str]) -> str:
    """As it is written in YAML."""
    return "{" + ", ".join(f"{key}: {_quoted(value)}" for key, value in sorted(selector.items())) + "}"


def _quoted(value: str) -> str:
    return f'"{value}"' if value in ("", "true", "false") or value.replace(".", "").isdecimal() else value


def _selector(value: Any) -> dict[str, str] | None:
    """What is no label with a text is a mistake of its own, told elsewhere."""
    if not isinstance(value, dict):
        return None
    return {key: item for key, item in value.items() if isinstance(item, str)}
