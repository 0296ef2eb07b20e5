"""The rules over a cluster's setup, listed by hand. Floor: check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.check.setup import (
    driver_coverage,
    refused_driver_objects,
    several_cluster_policies,
    unlike_nodes,
)

if TYPE_CHECKING:
    from poolsmith.check.setup.engine import SetupRule

SETUP_RULES: tuple[SetupRule, ...] = (
    unlike_nodes,
    refused_driver_objects,
    driver_coverage,
    several_cluster_policies,
)
