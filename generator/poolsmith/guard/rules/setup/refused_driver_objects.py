"""Rule: NVIDIADriver objects that select one node twice, or that the operator refuses or ignores.

The operator also refuses some features that an object asks for beside its driver.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go; the catalog, nvidia_driver: gdsNeedsOpenModules.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE, Finding
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER
from poolsmith.gpu.catalog.operands import read_nvidia_drivers
from poolsmith.gpu.catalog.releases import driver_object_behaviour_at
from poolsmith.gpu.drivers.driver_support import BESIDE_COMPILED, OPEN, TYPE, chosen_by, needs_open_modules, written
from poolsmith.guard.rules.setup.driver_setup import (
    CHART_NAME,
    DEFAULT,
    ENABLED,
    MOST_OBJECTS,
    DriverObject,
    compatible_pairs,
    driver_setup,
    shown_selector,
)
from poolsmith.guard.rules.setup.setup_view import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverSetup
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView


def refused_features(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    """The operator reports an error for such an object, and installs no driver on its nodes."""
    for item in setup.written:
        for name, shown in BESIDE_COMPILED.items():
            if item.precompiled and value_at(item.spec, (name, "enabled")) is True:
                yield Finding(
                    message=f"{item.shown} has {shown} beside a precompiled driver, which the operator refuses",
                    place=item.at(f"/spec/{name}/enabled"),
                    help=f"remove `{name}`, or write `usePrecompiled: false` with a full version in another object",
                    related=(item.at("/spec/usePrecompiled", "precompiled"),),
                )
        if not item.precompiled and (field := _closed(view, item)):
            yield Finding(
                message=f"{item.shown} has GPUDirect Storage, which the operator refuses unless `{field}` is "
                f"`{written(field, OPEN)}`" + ("; `auto` does not count" if field == TYPE else ""),
                place=item.at("/spec/gds/enabled"),
                help=f"write `{field}: {written(field, OPEN)}`",
            )


def _closed(view: SetupView, item: DriverObject) -> str:
    """The field that would have to say that the modules are open, and does not; empty where it need not."""
    assert view.operator is not None, "NEEDS says so"
    behaviour = driver_object_behaviour_at(view.operator.tag)
    field, version = behaviour["kernelModule"], item.text("gds", "version")
    is_open = chosen_by(field, item.spec.get(field)) == OPEN
    if is_open or not version or value_at(item.spec, ("gds", "enabled")) is not True:
        return ""
    return field if needs_open_modules(version, behaviour["gdsNeedsOpenModules"]) else ""


RULE = RuleInfo.of("PSM261")
NEEDS = ("release",)


def check(view: SetupView) -> Iterator[Finding[Location]]:
    setup = driver_setup(view)
    if setup.uses_objects is False:
        yield from _switched_off(view, setup)
        return
    if len(setup.objects) == MOST_OBJECTS:
        message = f"there are more than {MOST_OBJECTS:,} NVIDIADriver objects; only those are compared"
        yield Finding(message=message, place=setup.objects[0].at("/metadata/name"))
    yield from _same_name_as_the_chart(setup)
    yield from _single(setup)
    yield from refused_features(view, setup)
    if setup.by_owner:
        yield from _defaults(setup)
    yield from _overlaps(view, setup)


def _switched_off(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    if not setup.written:
        return
    assert view.operator is not None
    entry = read_nvidia_drivers(view.operator.tag)
    ignored = entry is not None and entry.behaviour["needsDelegation"]
    effect = (
        "the operator ignores them" if ignored else "the ClusterPolicy's driver is installed on their nodes as well"
    )
    first, names = setup.written[0], listed([item.name for item in setup.written], FEW)
    yield Finding(
        message=f"`{ENABLED}` is false, and there are NVIDIADriver objects ({names}): {effect}",
        place=first.at("/metadata/name"),
        help=f"set `{ENABLED}: true` and `{DEFAULT}: false`, or remove the objects",
        related=(view.value_location(ENABLED, "switches them off"),),
    )


def _same_name_as_the_chart(setup: DriverSetup) -> Iterator[Finding[Location]]:
    for item in setup.written:
        if setup.chart is not None and item.name == CHART_NAME:
            yield Finding(
                message=f"{item.shown} has the name of the object that the chart makes; Helm and this file overwrite "
                "each other",
                place=item.at("/metadata/name"),
                help=f"set `{DEFAULT}: false`, or give the object another name",
                related=(setup.chart.at("", "the chart makes its own"),),
            )


def _single(setup: DriverSetup) -> Iterator[Finding[Location]]:
    """What is wrong with an object by itself."""
    for item in setup.written:
        if setup.by_owner and item.is_default and item.stated:
            yield Finding(
                message=f"{item.shown} is a default, and has a nodeSelector: a default serves what no other selects",
                place=item.at("/spec/nodeSelector"),
                help="remove `nodeSelector`, or `default`",
            )
        if setup.by_owner and DRIVER_OWNER in (item.stated or {}):
            yield Finding(
                message=f"{item.shown} selects by `{DRIVER_OWNER}`, which the operator writes after it has chosen",
                place=item.at("/spec/nodeSelector"),
                help="select by a label of yours",
            )
        if item.spec.get("nodeAffinity"):
            yield Finding(
                message=f"{item.shown} has a nodeAffinity, which nothing reads: it selects nodes by nodeSelector only",
                place=item.at("/spec/nodeAffinity"),
                help="write `nodeSelector`, with labels and their values",
                severity=Severity.WARNING,
            )


def _defaults(setup: DriverSetup) -> Iterator[Finding[Location]]:
    found = [item for item in setup.objects if item.is_default]
    if len(found) > 1:
        first, second = found[0], found[1]
        yield Finding(
            message=f"{len(found)} NVIDIADriver objects are defaults ({listed([item.name for item in found], FEW)}); "
            "with more than one the operator fails for all objects",
            place=second.at("/spec/default"),
            help=f"keep one; `{DEFAULT}: false` removes the chart's" if first.of_chart else "keep one `default: true`",
            related=(first.at("/spec/default", "the first default"),),
        )


def _overlaps(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    compared = [item for item in setup.objects if not item.is_default]
    by_chart: list[DriverObject] = []
    met: list[bool] = []
    pairs = sorted(islice(compatible_pairs([item.selector for item in compared]), 4 * MOST_OF_ONE_RULE))
    witnesses = _contested(setup)
    for first, second in pairs:
        one, other = compared[first], compared[second]
        if one.of_chart:
            by_chart.append(other)
            met.append((one.name, other.name) in witnesses)
        else:
            yield _overlap(view, setup, one, other, witnesses.get((one.name, other.name)))
    if by_chart:
        severity = Severity.WARNING if view.nodes and not any(met) else None
        yield _chart_overlap(setup, by_chart, severity)


def _contested(setup: DriverSetup) -> dict[tuple[str, str], SetupNode]:
    """For two objects the first node that both select."""
    found: dict[tuple[str, str], SetupNode] = {}
    for node, rivals in setup.contested:
        names = [rival.name for rival in rivals]
        for one, other in pairwise(names):
            found.setdefault((one, other), node)
        found.setdefault((names[0], names[-1]), node)
    return found


def _overlap(
    view: SetupView, setup: DriverSetup, one: DriverObject, other: DriverObject, node: SetupNode | None
) -> Finding[Location]:
    if node is not None:
        message = f"NVIDIADriver `{one.name}` and `{other.name}` both select {node.word} `{node.name}`"
    else:
        labels = shown_selector({**one.selector, **other.selector})
        message = (
            f"NVIDIADriver `{one.name}` and `{other.name}` are not disjoint: both select a node with labels {labels}"
            if labels != "{}"
            else f"NVIDIADriver `{one.name}` and `{other.name}` both select every node"
        )
    consequence = "then no node is assigned to any object" if setup.by_owner else "then all NVIDIADriver objects fail"
    related = [one.at("/spec/nodeSelector", f"`{one.name}` selects {_told(one)}")]
    if node is not None:
        related.append(node.place("/metadata/name", "both select it"))
    return Finding(
        message=f"{message}; {consequence}",
        place=other.at("/spec/nodeSelector"),
        help=_advice(setup, one, other),
        related=tuple(related),
        severity=Severity.WARNING if view.nodes and node is None else None,
    )


def _advice(setup: DriverSetup, one: DriverObject, other: DriverObject) -> str:
    if setup.by_owner and (one.stated is None or other.stated is None):
        bare = one if one.stated is None else other
        return f"write `default: true` in `{bare.name}` when it is to serve all other nodes, else a nodeSelector"
    return "let both select by the same label, each another value of it"


def _chart_overlap(setup: DriverSetup, others: list[DriverObject], severity: Severity | None) -> Finding[Location]:
    assert setup.chart is not None
    names = listed([item.name for item in others], FEW)
    return Finding(
        message=f"the chart's NVIDIADriver `{CHART_NAME}` selects {_told(setup.chart)}, those of {names} too; "
        "then all NVIDIADriver objects fail",
        place=setup.chart.at(""),
        help=f"set `{DEFAULT}: false`",
        related=tuple(item.at("/spec/nodeSelector", f"selects {_told(item)}") for item in others[:FEW]),
        severity=severity,
    )


def _told(item: DriverObject) -> str:
    if item.stated is None:
        return "every GPU node"
    return shown_selector(item.stated) if item.stated else "every node"
