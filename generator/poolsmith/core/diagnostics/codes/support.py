"""Versions as such: open to published attacks, without support, or too far from the one before.

PSM170 to PSM172; PSM910 and PSM911 are about versions that can't be.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

VULNERABLE_STACK = RuleInfo.of("PSM170")
SUPPORT_ENDED = RuleInfo.of("PSM171")
RELEASE_SKIPPED = RuleInfo.of("PSM172")

IMPOSSIBLE_KERNEL = RuleInfo.of("PSM910")
UNKNOWN_VERSION = RuleInfo.of("PSM911")

COMPARE = "compare it with the vendor's list of drivers"
MOVE = "move to a branch that gets fixes when you can; the vendor lists them"
