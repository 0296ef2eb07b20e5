"""PSM6xx and PSM9xx: policy files, and the verdicts of the users' own admission policies."""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

UNKNOWN_RULE = RuleInfo.of("PSM601")
FIXED_RULE = RuleInfo.of("PSM602")
EXPIRED_WAIVER = RuleInfo.of("PSM603")
UNUSED_WAIVER = RuleInfo.of("PSM604")
UNEXPLAINED_WAIVER = RuleInfo.of("PSM605")
UNEXPLAINED_SETTING = RuleInfo.of("PSM606")
UNKNOWN_PARAMETER = RuleInfo.of("PSM607")
NOT_EVALUATED = RuleInfo.of("PSM608")
CHANGED_POLICIES = RuleInfo.of("PSM609")

INVALID_ADMISSION_POLICY = RuleInfo.of("PSM610")
BAD_EXPRESSION = RuleInfo.of("PSM611")
EXPRESSION_TOO_NEW = RuleInfo.of("PSM612")
POLICY_WITHOUT_BINDING = RuleInfo.of("PSM613")
BINDING_WITHOUT_POLICY = RuleInfo.of("PSM614")
MISSING_PARAMETERS = RuleInfo.of("PSM615")
MUTATING_POLICY = RuleInfo.of("PSM616")
STRAY_POLICY_OBJECT = RuleInfo.of("PSM617")
DEPENDS_ON_DEFAULTING = RuleInfo.of("PSM618")
POLICY_SAW_NOTHING = RuleInfo.of("PSM619")
UNSHIPPABLE_OBJECT = RuleInfo.of("PSM620")
UNTESTED_POLICY = RuleInfo.of("PSM630")
FAILED_POLICY_TEST = RuleInfo.of("PSM631")
INVALID_POLICY_TEST = RuleInfo.of("PSM632")
POLICY_NOT_SERVED = RuleInfo.of("PSM641")
EXPIRED_BASELINE = RuleInfo.of("PSM648")
UNUSED_BASELINE = RuleInfo.of("PSM649")

DENIED_BY_POLICY = RuleInfo.of("PSM901")
WARNED_BY_POLICY = RuleInfo.of("PSM902")
AUDITED_BY_POLICY = RuleInfo.of("PSM903")
UNDECIDED_BY_POLICY = RuleInfo.of("PSM904")
