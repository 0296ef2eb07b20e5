"""The nodes on which the operator installs its toolkit, as far as labels and profiles tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.catalog.node_labels import DEPLOY_TOOLKIT, WORKLOAD
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.operand_nodes import OFF, takes_operands

if TYPE_CHECKING:
    from poolsmith.guard.rules.setup.view import SetupNode, SetupView

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
