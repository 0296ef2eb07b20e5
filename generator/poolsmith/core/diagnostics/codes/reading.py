"""PSM0xx: reading files; PSM02x: packs of facts; PSM03x: profiles of several teams in one fleet."""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

UNREADABLE_FILE = RuleInfo.of("PSM001")
NOT_UTF8 = RuleInfo.of("PSM002")
YAML_SYNTAX = RuleInfo.of("PSM003")
DUPLICATE_KEY = RuleInfo.of("PSM004")
MERGE_CONFLICT_MARKER = RuleInfo.of("PSM005")
BYTE_ORDER_MARK = RuleInfo.of("PSM006")
EMPTY_DOCUMENT = RuleInfo.of("PSM007")
SEVERAL_DOCUMENTS = RuleInfo.of("PSM008")
NOT_A_MAPPING = RuleInfo.of("PSM009")
INPUT_LIMIT = RuleInfo.of("PSM010")
LINK_OUT_OF_TREE = RuleInfo.of("PSM011")
UNKNOWN_KIND = RuleInfo.of("PSM012")
NOT_JSON = RuleInfo.of("PSM013")
MISPLACED_FILE = RuleInfo.of("PSM014")
TEXT_AFTER_DOCUMENT_MARKER = RuleInfo.of("PSM015")
AMBIGUOUS_YAML = RuleInfo.of("PSM016")

PACK_NOT_PINNED = RuleInfo.of("PSM020")
PACK_REFUSED = RuleInfo.of("PSM021")
PACK_CORRECTS = RuleInfo.of("PSM022")

NOT_THE_TEAMS = RuleInfo.of("PSM030")
