"""Which NVIDIADriver serves a node, and what the operator refuses about NVIDIADriver objects before it looks for nodes.

Source: NVIDIA/gpu-operator:internal/validator/validator.go and, from v26.7.0, internal/nvidiadriver/nvidiadriver.go;
controllers/nvidiadriver_controller.go.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.custom_resources import in_name_order
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.gpu.catalog.node_labels import DRIVER_OWNER, GPU_PRESENT, OS_ID, SelectedNodes, matches
from poolsmith.gpu.drivers.driver_support import BESIDE_COMPILED, OPEN, chosen_by, needs_open_modules

_OPENSHIFT = ("rhcos", "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION")

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from poolsmith.fleet.operands.custom_resources import NvidiaDriver
    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.fleet.operands.expansion_context import Context


class SeveralDefaultsError(OperatorError):
    """More than one NVIDIADriver wants to serve every node that is left."""


class Conflicts:
    """What is wrong with all resources of a cluster together: asked for each of them, and found out once."""

    def __init__(self, drivers: Sequence[NvidiaDriver], nodes: Sequence[Node]) -> None:
        self._drivers = drivers
        self._nodes = nodes
        self._selected = SelectedNodes([node.labels for node in nodes])

    def nodes_of(self, selector: Mapping[str, str]) -> list[Node]:
        """Those that a selector selects, in order."""
        return [self._nodes[index] for index in self._selected.of(selector)]

    @cached_property
    def are_of_openshift(self) -> bool:
        """Whether any node says that it runs OpenShift."""
        system, version = _OPENSHIFT
        return any(version in node.labels or node.labels.get(OS_ID) == system for node in self._nodes)

    def check_overlap(self, driver: NvidiaDriver) -> None:
        """One node that two resources select makes all of them fail. Raises OperatorError."""
        if self._overlap:
            raise OperatorError(
                f"conflicting NVIDIADriver NodeSelectors found for resource: {driver.name}, "
                f"nodeSelector: {_as_go_map(driver.own_selector)}"
            )

    def check_owners(self) -> None:
        """One default at most, one owner at most besides it; the first two that meet are told. Raises OperatorError."""
        if self._of_owners is not None:
            raise self._of_owners

    @cached_property
    def _overlap(self) -> bool:
        taken: set[str] = set()
        for driver in self._drivers:
            chosen = {node.name for node in self.nodes_of(driver.selector)}
            if taken & chosen:
                return True
            taken |= chosen
        return False

    @cached_property
    def _of_owners(self) -> OperatorError | None:
        try:
            self._find_owners()
        except OperatorError as error:
            return error
        return None

    def _find_owners(self) -> None:
        """Raises OperatorError."""
        for driver in self._drivers:
            check_selector(driver)
        defaults(self._drivers)
        owners: dict[str, NvidiaDriver] = {}
        for driver in self._drivers:
            for node in () if driver.is_default else self.nodes_of(driver.selector):
                if node.name in owners:
                    raise _several(node, (owners[node.name], driver))
                owners[node.name] = driver


def check_selector(driver: NvidiaDriver) -> None:
    """A selector that a release with owners takes. Raises OperatorError."""
    stated = driver.own_selector
    if driver.is_default and stated:
        raise OperatorError(f'default NVIDIADriver "{driver.name}" cannot use nodeSelector')
    if DRIVER_OWNER in stated:
        raise OperatorError(f'NVIDIADriver "{driver.name}" nodeSelector cannot use reserved label "{DRIVER_OWNER}"')


def defaults(drivers: Iterable[NvidiaDriver]) -> list[NvidiaDriver]:
    """The default, if there is one. Raises SeveralDefaultsError."""
    found = [driver for driver in drivers if driver.is_default and not driver.deleted]
    if len(found) > 1:
        raise SeveralDefaultsError(f"multiple default NVIDIADrivers found: {_names(found)}")
    return found


def owner_among(drivers: Iterable[NvidiaDriver], node: Node) -> NvidiaDriver | None:
    """The one that selects a node, if any does. Raises OperatorError."""
    found = [driver for driver in drivers if matches(node.labels, driver.selector)]
    if len(found) > 1:
        raise _several(node, found)
    return found[0] if found else None


def _several(node: Node, drivers: Iterable[NvidiaDriver]) -> OperatorError:
    return OperatorError(f"multiple NVIDIADrivers match the same node {node.name}: {_names(drivers)}")


def _names(drivers: Iterable[NvidiaDriver]) -> str:
    return f"[{' '.join(sorted(driver.name for driver in drivers))}]"


def _as_go_map(selector: Mapping[str, str]) -> str:
    pairs = (f"{json.dumps(key)}:{json.dumps(value)}" for key, value in sorted(selector.items()))
    return f"map[{' '.join(pairs)}]"


def check(driver: NvidiaDriver, context: Context, behaviour: Mapping[str, Any]) -> None:
    """Raises OperatorError."""
    if driver.precompiled and any(driver.flag(name, "enabled") for name in BESIDE_COMPILED):
        raise OperatorError(
            "GPUDirect Storage driver (nvidia-fs) and/or GDRCopy driver is not supported along with pre-compiled "
            "NVIDIA drivers"
        )
    _demand_open_modules(driver, behaviour)
    if behaviour["secretEnv"] and (secret := driver.text("secretEnv")) and context.existing("Secret", secret) is None:
        raise OperatorError(f'secrets "{secret}" not found')


def _demand_open_modules(driver: NvidiaDriver, behaviour: Mapping[str, Any]) -> None:
    """Newer nvidia-fs loads beside open kernel modules only."""
    field = behaviour["kernelModule"]
    is_open = chosen_by(field, driver.spec.get(field)) == OPEN
    version = driver.text("gds", "version")
    if is_open or not driver.flag("gds", "enabled"):
        return
    if needs_open_modules(version, behaviour["gdsNeedsOpenModules"]):
        raise OperatorError(
            f"GPUDirect Storage driver '{version}' is only supported with NVIDIA OpenRM drivers. Please set "
            "'useOpenKernelModules=true' to enable OpenRM mode"
        )


def assign_owners(drivers: Sequence[Mapping[str, Any]], nodes: Sequence[Node]) -> dict[str, str | None]:
    """The owner of each GPU node by name; None: none, and its label goes.

    A conflict on one node leaves all of them as they are. Raises OperatorError.
    """
    live = [driver for driver in in_name_order(drivers) if not driver.deleted]
    for driver in live:
        check_selector(driver)
    default = next((driver.name for driver in defaults(live)), None)
    others = [driver for driver in live if not driver.is_default]
    owners: dict[str, str | None] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        if node.labels.get(GPU_PRESENT) == "true":
            owner = owner_among(others, node)
            owners[node.name] = owner.name if owner else default
    return owners
