"""PSM5xx: the committed output."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

OUT_OF_DATE = RuleInfo.of("PSM501")
HAND_EDITED = RuleInfo.of("PSM502")
ORPHANED_OUTPUT = RuleInfo.of("PSM503")
FOREIGN_FILE = RuleInfo.of("PSM504")
BAD_LOCK = RuleInfo.of("PSM505")
PATH_OCCUPIED = RuleInfo.of("PSM506")

VALUE_OF_SOME_RELEASES = RuleInfo.of("PSM584")
NOT_JUDGED = RuleInfo.of("PSM585")
BUILD_REFUSED = RuleInfo.of("PSM590")
