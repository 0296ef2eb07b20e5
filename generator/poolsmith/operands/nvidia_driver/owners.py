"""Which NVIDIADriver serves a node, where nodes carry its name.

Source: NVIDIA/gpu-operator@v26.7.0:internal/nvidiadriver/nvidiadriver.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.node_labels import GPU_PRESENT
from poolsmith.operands.nvidia_driver.conflicts import check_selector, defaults, owner_among
from poolsmith.operands.nvidia_driver.driver_resource import in_name_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.operands.expansion import Node


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
