"""PSM66x and PSM67x: what a change adds to what its base allows, and what its Helm values give to running workloads.

No setting and no waiver holds for PSM66x.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

POLICY_WIDENING = RuleInfo.of("PSM660")
JUDGE_CHANGE = RuleInfo.of("PSM661")
BESIDE_OUTPUT = RuleInfo.of("PSM662")

CHECKED_OUT_OTHERWISE = RuleInfo.of("PSM663")

UNACCEPTED_SETTING = RuleInfo.of("PSM670")
UNSEEN_VALUE = RuleInfo.of("PSM671")
CHANGE_AT_A_DISTANCE = RuleInfo.of("PSM672")
LEAVES_THE_DELIVERY = RuleInfo.of("PSM673")
REFUSED_BY_THE_SERVER = RuleInfo.of("PSM674")
