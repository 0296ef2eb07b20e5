"""The driver that each node is to get (of the ClusterPolicy or of the one object that selects it), and toolkit nodes.

Toolkit nodes are those on which the operator installs its toolkit, by labels and profiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.node_labels import DEPLOY_TOOLKIT, WORKLOAD
from poolsmith.gpu.drivers.driver_image import branch_of
from poolsmith.gpu.drivers.driver_support import chosen_by, module_field
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.setup_view import OFF, takes_operands

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverObject
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView


_VENDOR = "nvcr.io/nvidia"
_STORAGE = "gds.enabled"


@record(kw_only=False)
class DescribedDriver:
    """What describes a driver: an object, or the `driver` block of the values where `item` is None."""

    view: SetupView
    item: DriverObject | None = None

    @property
    def shown(self) -> str:
        return "the ClusterPolicy" if self.item is None else self.item.shown

    def get(self, path: str) -> Any:
        if self.item is None or self.item.of_chart:
            return self.view.value(f"driver.{path}")
        return value_at(self.item.spec, path.split("."))

    def text(self, path: str) -> str:
        """Empty where there is none."""
        value = self.get(path)
        return value if isinstance(value, str) else ""

    def flag(self, path: str) -> bool:
        return self.get(path) is True

    def at(self, path: str, note: str | None = None) -> Location:
        if self.item is None or self.item.of_chart:
            return self.view.value_location(f"driver.{path}", note)
        return self.item.at("/spec/" + path.replace(".", "/"), note)

    @property
    def storage(self) -> bool:
        """GPUDirect Storage, which stands beside `driver` in the values."""
        own = self.item is not None and not self.item.of_chart
        return self.flag(_STORAGE) if own else self.view.flag(_STORAGE) is True

    def at_storage(self) -> Location:
        own = self.item is not None and not self.item.of_chart
        return self.at(_STORAGE) if own or self.view.values is None else self.view.value_location(_STORAGE)

    @property
    def precompiled(self) -> bool:
        return self.flag("usePrecompiled")

    @property
    def version(self) -> str:
        return self.text("version")

    @property
    def is_guest(self) -> bool:
        """Whether it is for virtual machines with a vGPU: the tag of its image says nothing of the driver in it."""
        if self.item is not None and not self.item.of_chart:
            return self.text("driverType") == "vgpu"
        return any(self.text(f"licensingConfig.{name}") for name in ("secretName", "configMapName"))

    @property
    def branch(self) -> int | None:
        """None for a digest, for vGPU guests, and where no version is given."""
        return None if self.is_guest else branch_of(self.version)

    @property
    def of_vendor(self) -> bool:
        """Whether the image is one that NVIDIA publishes, and no copy or build of somebody else's."""
        if self.item is None and not self.text("repository"):
            return False
        path = "/".join(part for part in (self.text("repository"), self.text("image")) if part)
        return path in ("", f"{_VENDOR}/driver")

    @property
    def modules(self) -> str:
        """auto, open, proprietary; empty where nobody says it."""
        assert self.view.operator is not None
        field = module_field(self.view.operator.tag)
        return chosen_by(field, self.get(field))


@record(kw_only=False)
class NodeDrivers:
    """A described driver, and the nodes that get it."""

    driver: DescribedDriver
    nodes: tuple[SetupNode, ...]


@kept_all
def node_drivers(view: SetupView) -> list[NodeDrivers]:
    """Nodes on which no driver pod runs, or which nobody or several select, are in none."""
    setup = driver_setup(view)
    taking = [node for node in setup.nodes if setup.takes_driver(node)]
    if setup.policy_installs:
        return [NodeDrivers(DescribedDriver(view), tuple(taking))] if taking else []
    if not setup.uses_objects:
        return []
    by_object: dict[str, list[SetupNode]] = {}
    for node in taking:
        item = setup.served.get(node.name)
        if item is not None:
            by_object.setdefault(item.name, []).append(node)
    return [
        NodeDrivers(DescribedDriver(view, item), tuple(by_object[item.name]))
        for item in setup.objects
        if item.name in by_object
    ]


_IN_CONTAINERS = "container"


def toolkit_nodes(view: SetupView) -> list[SetupNode]:
    """Those that nobody keeps it off: no switch, no label, no workload that runs on the host without containers."""
    if view.flag("toolkit.enabled") is False:
        return []
    return [node for node in view.nodes or () if _gets_it(node, view)]


def _gets_it(node: SetupNode, view: SetupView) -> bool:
    if node.labels.get(DEPLOY_TOOLKIT) == OFF or not takes_operands(node):
        return False
    if node.toolkit not in (None, "operator"):
        return False
    if node.workload is None and view.flag("sandboxWorkloads.enabled") is None:
        return node.labels.get(WORKLOAD, _IN_CONTAINERS) == _IN_CONTAINERS  # nobody says that it is not read
    return not driver_setup(view).is_sandboxed(node)
