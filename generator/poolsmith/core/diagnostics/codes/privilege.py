"""PSM4xx and PSM64x: privileges, and grants as an admission policy. Entries of rules stand in the rules' own files."""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

POD_SECURITY = RuleInfo.of("PSM420")

COMMITTED_SECRET = RuleInfo.of("PSM430")

GRANTS_NOT_ENFORCED = RuleInfo.of("PSM640")
SCRIPT_NOT_KNOWN = RuleInfo.of("PSM642")
PRIVILEGE_POLICY_TOO_LARGE = RuleInfo.of("PSM643")
POD_TOO_COSTLY = RuleInfo.of("PSM647")
NAMESPACE_NOT_HELD = RuleInfo.of("PSM644")
RUNNING_RELEASE_UNKNOWN = RuleInfo.of("PSM646")
INCOMPLETE_PRIVILEGE_POLICY = RuleInfo.of("PSM645")
