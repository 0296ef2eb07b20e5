"""A pool's driver, its container runtime, and its taints.

PSM218, PSM219, PSM234 to PSM239: where the driver comes from, and whether it is there. PSM223 to PSM229: container
runtimes and what configures them. PSM243 to PSM249: taints, and pools whose nodes come and go.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

UNKNOWN_DRIVER_IMAGE = RuleInfo.of("PSM218")
DRIVER_IMAGE_NOT_LISTED = RuleInfo.of("PSM219")
VGPU_GUEST = RuleInfo.of("PSM234")
UPGRADE_POLICY_UNSTATED = RuleInfo.of("PSM235")
FORCED_DRAIN = RuleInfo.of("PSM236")
DRIVER_VERSION_UNSTATED = RuleInfo.of("PSM237")
DRIVER_FOLDER = RuleInfo.of("PSM238")
DRIVER_TOO_OLD = RuleInfo.of("PSM239")

PACKAGE_SOURCE_UNSTATED = RuleInfo.of("PSM242")

RUNTIMES_EXCLUDE = RuleInfo.of("PSM223")
CONFIG_VERSION = RuleInfo.of("PSM224")
TOOLKIT_TOO_OLD = RuleInfo.of("PSM225")
FOREIGN_RUNTIME = RuleInfo.of("PSM226")
RUNTIME_PATH = RuleInfo.of("PSM227")
NRI_MISSING = RuleInfo.of("PSM228")

STARTUP_TAINT_MISSING = RuleInfo.of("PSM243")
STARTUP_TAINT_PERMANENT = RuleInfo.of("PSM244")
TAINT_TWICE = RuleInfo.of("PSM245")
TAINT_WITHOUT_TOLERATION = RuleInfo.of("PSM246")
AUTOSCALED_BY_NAME = RuleInfo.of("PSM247")
OPT_OUT_NOT_KEPT = RuleInfo.of("PSM248")
