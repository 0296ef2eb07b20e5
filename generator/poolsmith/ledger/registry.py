"""The rules over privileges, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.ledger.rules import (
    host_network,
    node_agent_patches_nodes,
    privileged_child_pod,
    reads_secrets,
    workload_without_business,
)

if TYPE_CHECKING:
    from poolsmith.ledger.engine import PrivilegeRule

PRIVILEGE_RULES: tuple[PrivilegeRule, ...] = (
    workload_without_business,
    privileged_child_pod,
    host_network,
    node_agent_patches_nodes,
    reads_secrets,
)
