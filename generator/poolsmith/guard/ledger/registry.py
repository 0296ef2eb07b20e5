"""The rules over ledgers and grants, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.ledger.rules import (
    expired_grant,
    expiring_grant,
    grant_without_reason,
    host_network,
    no_grants,
    node_agent_patches_nodes,
    privileged_child_pod,
    reads_secrets,
    ungranted_privilege,
    unused_grant,
    wide_grant,
    workload_without_business,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.ledger.grants.review import GrantReview, UngrantedView
    from poolsmith.guard.ledger.view import PrivilegeView

PRIVILEGE_RULES: tuple[Rule[PrivilegeView, Location], ...] = (
    workload_without_business,
    privileged_child_pod,
    host_network,
    node_agent_patches_nodes,
    reads_secrets,
)
CLUSTER_GRANT_RULES: tuple[Rule[UngrantedView, Location], ...] = (ungranted_privilege,)
"""Over what one cluster holds."""
FLEET_GRANT_RULES: tuple[Rule[GrantReview, Location], ...] = (
    unused_grant,
    expired_grant,
    expiring_grant,
    wide_grant,
    grant_without_reason,
    no_grants,
)
"""Over all grants, once all clusters have been looked at."""
GRANT_RULE_INFOS = (
    *(rule.RULE for rule in CLUSTER_GRANT_RULES),
    *(rule.RULE for rule in FLEET_GRANT_RULES),
)
