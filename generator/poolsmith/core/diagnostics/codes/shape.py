"""PSM1xx: the shape of profiles; PSM117 to PSM119: the rings of a rollout; PSM121: clusters with one destination.

Rings are groups of clusters that get new releases one after the other. PSM121 is about clusters that one Argo CD would
deliver to one place.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

UNKNOWN_FIELD = RuleInfo.of("PSM101")
WRONG_TYPE = RuleInfo.of("PSM102")
MISSING_FIELD = RuleInfo.of("PSM103")
INVALID_VALUE = RuleInfo.of("PSM104")
INVALID_NAME = RuleInfo.of("PSM105")
OUT_OF_RANGE = RuleInfo.of("PSM106")
AMBIGUOUS_SCALAR = RuleInfo.of("PSM107")
DUPLICATE_ITEM = RuleInfo.of("PSM108")
SECRET_IN_ADDRESS = RuleInfo.of("PSM109")
UNKNOWN_BASE = RuleInfo.of("PSM110")
EXTENDS_CYCLE = RuleInfo.of("PSM111")
DUPLICATE_NAME = RuleInfo.of("PSM112")
CLUSTER_WITHOUT_POOLS = RuleInfo.of("PSM113")
CLUSTER_NAME_MISMATCH = RuleInfo.of("PSM114")
CLUSTER_FILE_MISSING = RuleInfo.of("PSM115")
UNUSED_BASE = RuleInfo.of("PSM116")

UNKNOWN_RING = RuleInfo.of("PSM117")
TWO_REVISIONS = RuleInfo.of("PSM118")
RING_AHEAD = RuleInfo.of("PSM119")

ASSUMED_VALUE = RuleInfo.of("PSM912")

SHARED_DESTINATION = RuleInfo.of("PSM121")
