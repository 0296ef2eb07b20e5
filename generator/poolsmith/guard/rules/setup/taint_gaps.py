"""Taints of nodes that something which must run there does not tolerate: found once for all rules.

Source: Kubernetes' scheduler; NVIDIA/gpu-operator:controllers/object_controls.go (daemonsets.tolerations, where given,
are the whole list of each DaemonSet), internal/state/driver.go (an NVIDIADriver's are added to the operator's own).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.toleration import Tolerations, keeps_away, shown_taint
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.one_feature_discovery import discoveries
from poolsmith.guard.rules.setup.setup_view import FEW, takes_operands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

OPERANDS = "daemonsets.tolerations"
WORKER = "node-feature-discovery.worker.tolerations"
_GPU: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


class Bearer(StrEnum):
    """What has to run on a node."""

    OPERANDS = "the operator's DaemonSets"
    DRIVER = "driver object"
    WORKER = "worker of Node Feature Discovery"
    DAEMON_SET = "DaemonSet"


@record
class TaintGap:
    """A taint that `what` does not tolerate on `nodes`.

    `near`: position and value of a toleration of another value. `stated`: the list of tolerations is the user's own.
    """

    bearer: Bearer
    what: str
    field: str
    taint: Mapping[str, str]
    nodes: tuple[SetupNode, ...]
    place: Callable[[int | None], Location]
    near: tuple[int, str] | None
    stated: bool

    @property
    def shown(self) -> str:
        return shown_taint(self.taint)

    @property
    def location(self) -> Location:
        return self.place(None if self.near is None else self.near[0])

    @property
    def advice(self) -> str:
        """What would have to be added, as it is written, and where."""
        value = self.taint.get("value", "")
        how = f'operator: Equal, value: "{value}"' if value else "operator: Exists"
        toleration = f"{{key: {self.taint.get('key', '')}, {how}, effect: {self.taint.get('effect', '')}}}"
        beside = "" if self.stated else "; the list replaces the chart's, so repeat its entries"
        return f"add `{toleration}` to `{self.field}`{beside}"

    @property
    def taint_places(self) -> tuple[Location, ...]:
        """Where the first nodes have it."""
        return tuple(
            node.place("/spec/nodes/" + ("taints" if self.taint in node.taints else "startupTaints"), "the taint")
            for node in self.nodes[:FEW]
        )


@record
class _Asked:
    """Something with tolerations, and the nodes where it has to run."""

    bearer: Bearer
    what: str
    field: str
    tolerations: list[Any]
    nodes: Iterable[SetupNode]
    place: Callable[[int | None], Location]
    stated: bool = True


@kept_all
def taint_gaps(view: SetupView) -> Iterator[TaintGap]:
    """Of a view, which must have nodes and values."""
    return (gap for asked in _all(view) for gap in _gaps(asked, view))


def taints_of(node: SetupNode, view: SetupView) -> tuple[Mapping[str, str], ...]:
    """Those of a new node that keep pods away, without what Kubernetes and autoscalers set for a while."""
    passing = view.catalog.scheduling.passing_taints
    return tuple(
        taint
        for taint in (*node.taints, *(node.startup_taints or ()))
        if keeps_away(taint) and taint.get("key", "") not in passing
    )


def _all(view: SetupView) -> Iterator[_Asked]:
    nodes = view.nodes or ()
    with_operands = [node for node in nodes if takes_operands(node)]
    operands = _listed(view, OPERANDS)
    if operands is not None:
        yield _Asked(
            bearer=Bearer.OPERANDS,
            what="the operator's DaemonSets",
            field=OPERANDS,
            tolerations=operands or [_GPU],
            nodes=with_operands,
            place=_of_values(view, OPERANDS),
            stated=view.is_set(OPERANDS),
        )
    worker = _listed(view, WORKER) if view.flag("nfd.enabled") else None
    if worker is not None:
        yield _Asked(
            bearer=Bearer.WORKER,
            what="the worker of Node Feature Discovery",
            field=WORKER,
            tolerations=worker,
            nodes=nodes,
            place=_of_values(view, WORKER),
            stated=view.is_set(WORKER),
        )
    if not view.flag("nfd.enabled"):
        yield from _of_discoveries(view, nodes)
    yield from _of_drivers(view)
    yield from _of_daemon_sets(view, nodes)


def _listed(view: SetupView, path: str) -> list[Any] | None:
    """The tolerations of a value; None where nobody can tell."""
    value = view.value(path)
    if isinstance(value, list):
        return value
    if value is not None or view.values is None:
        return None
    known = view.is_set(path) or (not view.values.partial and view.values.defaults is not None)
    return [] if known else None


def _of_values(view: SetupView, path: str) -> Callable[[int | None], Location]:
    def place(index: int | None) -> Location:
        if index is None or not view.is_set(path):
            return view.value_location(path)
        return view.value_location(f"{path}.{index}.value")

    return place


def _of_discoveries(view: SetupView, nodes: Iterable[SetupNode]) -> Iterator[_Asked]:
    for found in discoveries(view):
        if found.tolerations is not None:

            def place(index: int | None, found: Any = found) -> Location:
                location: Location = found.item.place(found.pointer if index is None else f"{found.pointer}/{index}")
                return location

            yield _Asked(
                bearer=Bearer.WORKER,
                what=f"the worker of {found.what}",
                field=found.pointer.removeprefix("/").replace("/", "."),
                tolerations=found.tolerations,
                nodes=nodes,
                place=place,
            )


def _of_drivers(view: SetupView) -> Iterator[_Asked]:
    """Each object with the nodes that it alone serves."""
    setup = driver_setup(view)
    if not setup.uses_objects:
        return
    nodes: dict[str, list[SetupNode]] = {}
    for node in setup.nodes:
        served = setup.served.get(node.name)
        if served is not None and setup.takes_driver(node):
            nodes.setdefault(served.name, []).append(node)
    for item in setup.objects:
        if item.name not in nodes:
            continue
        given = _listed(view, OPERANDS) if item.of_chart else item.spec.get("tolerations") or []
        if not isinstance(given, list):
            continue

        def place(index: int | None, item: Any = item) -> Location:
            if item.of_chart:
                return _of_values(view, OPERANDS)(index)
            pointer = "/spec/tolerations" + ("" if index is None else f"/{index}/value")
            location: Location = item.at(pointer)
            return location

        yield _Asked(
            bearer=Bearer.DRIVER,
            what=item.shown,
            field=OPERANDS if item.of_chart else "spec.tolerations",
            tolerations=[*given, _GPU],
            nodes=nodes[item.name],
            place=place,
        )


def _of_daemon_sets(view: SetupView, nodes: Iterable[SetupNode]) -> Iterator[_Asked]:
    """Of files: those that select nodes here, and can run on none of them."""
    by_label: dict[tuple[str, str], list[SetupNode]] = {}
    for node in nodes:
        for label in node.labels.items():
            by_label.setdefault(label, []).append(node)
    for item in view.of_kind("DaemonSet", "apps"):
        pod = mapping(value_at(item.spec, ("template", "spec")))
        selector = pod.get("nodeSelector")
        tolerations = pod.get("tolerations") or []
        if not isinstance(selector, dict) or not selector or not isinstance(tolerations, list):
            continue
        wanted = [(key, value) for key, value in selector.items() if isinstance(value, str)]
        fewest = min((by_label.get(label, []) for label in wanted), key=len, default=[])
        chosen = [node for node in fewest if matches(node.labels, selector)]
        known = Tolerations(tolerations)
        if chosen and not any(_takes(node, known, view) for node in chosen):

            def place(_index: int | None, item: Any = item) -> Location:
                location: Location = item.place("/spec/template/spec/tolerations")
                return location

            yield _Asked(
                bearer=Bearer.DAEMON_SET,
                what=item.name,
                field="spec.template.spec.tolerations",
                tolerations=tolerations,
                nodes=chosen,
                place=place,
            )


def _takes(node: SetupNode, known: Tolerations, view: SetupView) -> bool:
    return all(known.cover(taint) is not False for taint in taints_of(node, view))


def _gaps(asked: _Asked, view: SetupView) -> Iterator[TaintGap]:
    """One for each taint, with all nodes that have it."""
    tolerations = Tolerations(asked.tolerations)
    by_taint: dict[tuple[tuple[str, str], ...], list[SetupNode]] = {}
    answers: dict[tuple[tuple[str, str], ...], bool] = {}
    for node in asked.nodes:
        for taint in taints_of(node, view):
            key = tuple(sorted(taint.items()))
            if key not in answers:
                answers[key] = tolerations.cover(taint) is False
            if answers[key]:
                by_taint.setdefault(key, []).append(node)
    for key, nodes in by_taint.items():
        taint = dict(key)
        near = tolerations.near(taint)
        yield TaintGap(
            bearer=asked.bearer,
            what=asked.what,
            field=asked.field,
            taint=taint,
            nodes=tuple(nodes),
            place=asked.place,
            near=near,
            stated=asked.stated,
        )
