"""The engine that delivers, by its version.

PSM931, PSM932 and PSM939; PSM930 is of files of anyone.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

ENGINE_VERSION = RuleInfo.of("PSM931")
ENGINE_TOO_OLD = RuleInfo.of("PSM932")
ENGINE_UPGRADED = RuleInfo.of("PSM939")
