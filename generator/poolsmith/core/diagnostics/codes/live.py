"""PSM850 to PSM899: a live cluster, held against what is committed for it."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

NOT_ON_CLUSTER = RuleInfo.of("PSM850")
DIFFERS_ON_CLUSTER = RuleInfo.of("PSM851")
UNPREDICTED_WORKLOAD = RuleInfo.of("PSM852")
UNPREDICTED_PRIVILEGE = RuleInfo.of("PSM853")
NODE_IN_NO_POOL = RuleInfo.of("PSM854")
NODE_OTHER_THAN_PROFILE = RuleInfo.of("PSM855")
NODE_NOT_LABELLED = RuleInfo.of("PSM856")
POLICY_NOT_IN_FORCE = RuleInfo.of("PSM857")
NOT_READY = RuleInfo.of("PSM858")
LEFT_OVER = RuleInfo.of("PSM859")
OTHER_VERSION = RuleInfo.of("PSM860")
WAY_TO_ROOT = RuleInfo.of("PSM870")
WOULD_NOT_START = RuleInfo.of("PSM871")
NOT_THE_ONLY_ONE = RuleInfo.of("PSM872")
NOT_READ = RuleInfo.of("PSM873")
