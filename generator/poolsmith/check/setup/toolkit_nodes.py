"""The nodes on which the operator installs its toolkit, as far as labels and profiles tell. Floor: check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.check.setup.view import SetupNode, SetupView

_OPERANDS = "nvidia.com/gpu.deploy.operands"
_OFF = "false"
_IN_CONTAINERS = "container"


def toolkit_nodes(view: SetupView) -> list[SetupNode]:
    """Those that nobody keeps it off: no switch, no label, no workload that runs on the host without containers."""
    if view.flag("toolkit.enabled") is False:
        return []
    return [node for node in view.nodes or () if _gets_it(node, view)]


def _gets_it(node: SetupNode, view: SetupView) -> bool:
    labels = view.catalog.releases.labels
    if node.labels.get(labels.deploy_toolkit) == _OFF or node.labels.get(_OPERANDS) == _OFF:
        return False
    if node.toolkit not in (None, "operator"):
        return False
    if node.workload is not None:
        return node.workload == _IN_CONTAINERS
    if view.flag("sandboxWorkloads.enabled") is False:
        return True  # the label is not read
    default = view.value("sandboxWorkloads.defaultWorkload") or _IN_CONTAINERS
    return bool(node.labels.get(labels.workload, default) == _IN_CONTAINERS)
