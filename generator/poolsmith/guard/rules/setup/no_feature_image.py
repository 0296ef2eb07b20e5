"""Modules beside the driver (GPUDirect Storage, GDRCopy) on systems for which no image of them was published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.guard.rules.setup.setup_view import named, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM771")
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.flag("driver.enabled") is False:
        return
    by_objects = view.flag("driver.nvidiaDriverCRD.enabled") is True
    for name, known in store.table("feature_images.yaml")["features"].items():
        concerned = [node for node in view.nodes or () if node.os_id in known["absent"] and node.driver in _BUILT]
        if not concerned:
            continue
        if by_objects:
            yield from _of_objects(view, name, known["title"], concerned)
        elif view.flag(f"{name}.enabled") and view.value(f"{name}.repository") == known["repository"]:
            yield _finding(view.value_location(f"{name}.enabled"), known["title"], concerned)


_BUILT = (None, "container", "precompiled")


def _of_objects(view: SetupView, name: str, title: str, nodes: list[SetupNode]) -> Iterator[Finding[Location]]:
    for item in view.of_kind("NVIDIADriver", "nvidia.com"):
        if value_at(item.spec, (name, "enabled")) is not True:
            continue
        selector = {str(key): str(value) for key, value in mapping(item.spec.get("nodeSelector")).items()}
        on = [node for node in nodes if matches(node.labels, selector)]
        if on:
            yield _finding(item.place(f"/spec/{name}/enabled"), title, on)


def _finding(place: Location, title: str, nodes: list[SetupNode]) -> Finding[Location]:
    return Finding(
        message=f"no image of {title} was published for {nodes[0].os_id}, the system of {named(nodes)}: the driver's "
        "pod never gets ready there",
        place=place,
        help="switch it off for these nodes, or build the image and name its repository",
        related=places(nodes, "/spec/os", "such nodes"),
    )
