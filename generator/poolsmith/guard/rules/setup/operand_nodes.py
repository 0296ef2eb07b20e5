"""Nodes that a label keeps all of the operator's parts off.

Source: NVIDIA/gpu-operator:controllers/state_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.catalog.node_labels import DEPLOY_OPERANDS

if TYPE_CHECKING:
    from poolsmith.guard.rules.setup.view import SetupNode

OFF = "false"


def takes_operands(node: SetupNode) -> bool:
    """Whether the operator deploys anything there."""
    return node.labels.get(DEPLOY_OPERANDS) != OFF
