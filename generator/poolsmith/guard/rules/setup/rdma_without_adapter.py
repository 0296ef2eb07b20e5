"""GPUDirect RDMA for nodes without an adapter for it, and drivers of the network that come twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.node_labels import FEATURE, PCI_MELLANOX
from poolsmith.guard.rules.setup.node_drivers import node_drivers
from poolsmith.guard.rules.setup.setup_view import named, places, verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM267")
NEEDS = ("nodes", "release")
_ENABLED, _HOST = "rdma.enabled", "rdma.useHostMofed"
_FEATURES = FEATURE + "pci-"
_NETWORK_GROUP = "mellanox.com"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    containers = [
        item
        for item in view.of_kind("NicClusterPolicy", _NETWORK_GROUP)
        if isinstance(item.spec.get("ofedDriver"), dict)
    ]
    for found in node_drivers(view):
        if not found.driver.flag(_ENABLED):
            continue
        for is_sure in (True, False):
            nodes = [node for node in found.nodes if _has_none(node) is not None and _has_none(node) is is_sure]
            if nodes:
                yield Finding(
                    message=f"{found.driver.shown} turns on GPUDirect RDMA for {named(nodes)}, which "
                    f"{verb(nodes, 'has', 'have')} no NVIDIA network adapter",
                    place=found.driver.at(_ENABLED),
                    related=places(nodes, "/spec/nic", "no adapter"),
                    severity=None if is_sure else Severity.WARNING,
                )
        if containers and found.driver.flag(_HOST):
            yield Finding(
                message=f"{found.driver.shown} uses the network driver of the host, and {containers[0].name} installs "
                "one in a container",
                place=found.driver.at(_HOST),
                help="remove `useHostMofed`, or `ofedDriver`",
                related=(containers[0].place("/spec/ofedDriver", "installs it"),),
                severity=Severity.WARNING,
            )


def _has_none(node: SetupNode) -> bool | None:
    """True where the profile says that there is no adapter, False where only labels do; None where there may be one."""
    if node.nic is not None:
        return True if node.nic == "none" else None
    if node.labels.get(PCI_MELLANOX) == "true" or not any(key.startswith(_FEATURES) for key in node.labels):
        return None
    return False
