"""The rules over what stands beside the GPU stack, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.beside import (
    label_after_start,
    nic_cluster_policy,
    node_template_driver,
    node_template_gpus,
    node_template_labels,
    node_template_of_no_pool,
    node_template_taints,
    pool_without_node_template,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourView

BESIDE_RULES: tuple[Rule[NeighbourView, Location], ...] = (
    node_template_labels,
    node_template_taints,
    node_template_of_no_pool,
    node_template_gpus,
    pool_without_node_template,
    label_after_start,
    nic_cluster_policy,
    node_template_driver,
)
