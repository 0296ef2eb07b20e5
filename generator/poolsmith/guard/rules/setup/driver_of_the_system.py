"""Nodes whose image holds a driver or toolkit while another is installed, and nodes that get none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.node_labels import DEPLOY_DRIVER, DEPLOY_TOOLKIT
from poolsmith.gpu.drivers.driver_support import carries_toolkit, carries_toolkit_with_driver
from poolsmith.guard.rules.setup.driver_setup import ENABLED, driver_setup
from poolsmith.guard.rules.setup.node_drivers import node_drivers
from poolsmith.guard.rules.setup.setup_view import named, places, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverSetup
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM263")
NEEDS = ("nodes", "values", "release")
_PRESET = "pre-installed"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    setup = driver_setup(view)
    yield from _second_driver(view, setup)
    yield from _no_driver(view, setup)
    yield from _toolkits(view, setup)


def _second_driver(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    for found in node_drivers(view):
        for kind, nodes in _alike(found.nodes, setup.brings_own).items():
            yield Finding(
                message=f"{_whose(kind, nodes)}, and {found.driver.shown} installs another on {named(nodes)}",
                place=found.driver.at("" if found.driver.item is not None else "enabled"),
                help=f"label the nodes `{DEPLOY_DRIVER}: pre-installed`"
                + ("" if found.driver.item is not None else ", or set `driver.enabled: false` when all are like that"),
                related=places(nodes, "/spec/os" if kind == "os" else "/spec/driver/source", "has a driver already"),
            )


def _no_driver(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    managed = [node for node in setup.nodes if node.driver in ("container", "precompiled")]
    if setup.uses_objects is False and view.flag("driver.enabled") is False and managed:
        yield Finding(
            message=f"`driver.enabled` and `{ENABLED}` are false, and no image of {named(managed)} contains a driver",
            place=view.value_location("driver.enabled"),
            help="remove `driver.enabled: false`; or pre-install a driver, and write `source: preinstalled` in the "
            "profile",
            related=places(managed, "/spec/driver/source", "is to get a driver"),
        )
    kept_off = [node for node in managed if not setup.takes_driver(node) and not setup.is_sandboxed(node)]
    if kept_off:
        yield Finding(
            message=f"a label keeps the driver off {named(kept_off)}, and their image contains none",
            place=kept_off[0].location,
            help=f"remove the label `{DEPLOY_DRIVER}`",
        )


def _toolkits(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    if view.flag("gpuCluster.deployCR"):
        return  # its operator installs none
    enabled = view.flag("toolkit.enabled")
    nodes = [node for node in setup.nodes if not setup.is_sandboxed(node)]
    if enabled:
        taking = [node for node in nodes if node.labels.get(DEPLOY_TOOLKIT) != "false"]
        for kind, found in _alike(tuple(taking), lambda node: _own_toolkit(view, node)).items():
            sure = kind == "preinstalled"
            whose = "their image contains a toolkit" if sure else f"{found[0].os_id} contains its toolkit"
            yield Finding(
                message=f"{whose}, and the operator installs another on {named(found)}",
                place=view.value_location("toolkit.enabled"),
                help=f'label the nodes `{DEPLOY_TOOLKIT}: "false"`, or set `toolkit.enabled: false` when all are like '
                "that",
                related=places(found, "/spec/toolkit" if sure else "/spec/os", "has a toolkit already"),
                severity=None if sure else Severity.WARNING,
            )
    elif enabled is False and not view.flag("cdi.nriPluginEnabled"):
        without = [node for node in nodes if node.toolkit == "operator"]
        if without:
            yield Finding(
                message=f"`toolkit.enabled` is false, and no image of {named(without)} contains a toolkit",
                place=view.value_location("toolkit.enabled"),
                help="remove `toolkit.enabled: false`, or write `toolkit: {source: preinstalled}` in the profile",
                related=places(without, "/spec/toolkit", "has none"),
            )


def _own_toolkit(view: SetupView, node: SetupNode) -> str | None:
    """`preinstalled` where a profile says it, `os` where the system is known to bring one."""
    if node.toolkit is not None:
        return "preinstalled" if node.toolkit == "preinstalled" else None
    system = view.catalog.operating_systems.get(node.os_id)
    has_driver = node.labels.get(DEPLOY_DRIVER) == _PRESET or view.flag("driver.enabled") is False
    return (
        "os"
        if carries_toolkit(system, node.os_version) or (carries_toolkit_with_driver(system) and has_driver)
        else None
    )


def _alike(nodes: tuple[SetupNode, ...], kind_of: Callable[[SetupNode], str | None]) -> dict[str, list[SetupNode]]:
    found: dict[str, list[SetupNode]] = {}
    for node in nodes:
        if (kind := kind_of(node)) is not None:
            found.setdefault(kind, []).append(node)
    return found


def _whose(kind: str, nodes: list[SetupNode]) -> str:
    if kind == "os":
        return f"{nodes[0].os_id} contains its driver"
    return f"the image of the {nodes[0].word}{verb(nodes, '', 's')} contains a driver"
