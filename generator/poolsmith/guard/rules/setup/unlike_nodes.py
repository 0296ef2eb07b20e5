"""One ClusterPolicy driver for nodes that need different ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.drivers.driver_image import UnreadableVersionError, os_tag
from poolsmith.guard.rules.setup.driver_setup import ENABLED, driver_setup
from poolsmith.guard.rules.setup.setup_view import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM260")
NEEDS = ("nodes", "values", "release")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    setup = driver_setup(view)
    if not setup.policy_installs or not any(map(setup.takes_driver, setup.nodes)):
        return
    assert view.operator is not None
    systems: dict[str, SetupNode] = {}
    sources: dict[str, SetupNode] = {}
    for node in setup.nodes:
        if node.os_id and node.os_version:
            with suppress(UnreadableVersionError):  # the operator stops at such a node
                systems.setdefault(node.image_tag or os_tag(node.os_id, node.os_version, view.operator.tag), node)
        if node.driver in ("container", "precompiled") and setup.takes_driver(node):
            sources.setdefault(node.driver, node)
    if len(systems) > 1:
        yield _finding(
            view,
            systems,
            "/spec/os",
            "run different systems, and one ClusterPolicy names the driver image after whichever node it lists first",
        )
    if len(sources) > 1:
        yield _finding(
            view, sources, "/spec/driver/source", "want different drivers, and one ClusterPolicy describes that of all"
        )


def _finding(view: SetupView, kinds: dict[str, SetupNode], pointer: str, what: str) -> Finding[Location]:
    shown = [f"`{node.name}` ({kind})" for kind, node in kinds.items()]
    rest = len(shown) - FEW
    listed = ", ".join(shown[:FEW]) + (f" and {rest} more kinds" if rest > 0 else "")
    word = next(iter(kinds.values())).word
    return Finding(
        message=f"{word}s {listed} {what}",
        place=view.value_location(ENABLED if view.is_set(ENABLED) else "driver.enabled"),
        related=tuple(node.place(pointer, kind) for kind, node in list(kinds.items())[:FEW]),
    )
