"""PSM65x, PSM7xx and PSM806: sources outside of the supply policy, its acceptances, and files beside the stack.

PSM65x: what a supply policy accepts. PSM7xx: what stands outside of it, and what a change would switch off. PSM806:
files beside the GPU stack that are not there.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

UNKNOWN_SOURCE = RuleInfo.of("PSM701")
UNKNOWN_IMAGE = RuleInfo.of("PSM702")
UNKNOWN_MIRROR = RuleInfo.of("PSM703")
UNKNOWN_DELIVERY = RuleInfo.of("PSM704")

UNANSWERED = RuleInfo.of("PSM705")
NO_SUPPLY_POLICY = RuleInfo.of("PSM706")

SWITCHED_OFF = RuleInfo.of("PSM710")

UNEXPLAINED_ACCEPTANCE = RuleInfo.of("PSM650")
EXPIRED_ACCEPTANCE = RuleInfo.of("PSM651")
UNUSED_ACCEPTANCE = RuleInfo.of("PSM652")

UNEXPLAINED_EXTERNAL_NAME = RuleInfo.of("PSM653")
EXPIRED_EXTERNAL_NAME = RuleInfo.of("PSM654")
UNUSED_EXTERNAL_NAME = RuleInfo.of("PSM655")
RETIRED_RULE = RuleInfo.of("PSM656")

NOTHING_BESIDE = RuleInfo.of("PSM806")
