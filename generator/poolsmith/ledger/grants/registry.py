"""The rules over grants, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.ledger.rules import (
    expired_grant,
    expiring_grant,
    grant_without_reason,
    no_grants,
    ungranted_privilege,
    unused_grant,
    wide_grant,
)

if TYPE_CHECKING:
    from poolsmith.ledger.grants.engine import GrantRule
    from poolsmith.ledger.grants.review import GrantReview, UngrantedView

CLUSTER_GRANT_RULES: tuple[GrantRule[UngrantedView], ...] = (ungranted_privilege,)
"""Over what one cluster holds."""
FLEET_GRANT_RULES: tuple[GrantRule[GrantReview], ...] = (
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
