"""PSM3xx: Helm values; PSM31x: Kubernetes objects against the schemas of their kinds."""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

SCHEMA_VIOLATION = RuleInfo.of("PSM310")
UNKNOWN_OBJECT_FIELD = RuleInfo.of("PSM311")
NULL_FIELD = RuleInfo.of("PSM312")
DUPLICATE_ENTRY = RuleInfo.of("PSM313")
KIND_WITHOUT_SCHEMA = RuleInfo.of("PSM314")
KIND_NOT_SERVED = RuleInfo.of("PSM315")
KUBECONFORM_DISAGREEMENT = RuleInfo.of("PSM316")

VALUE_TAKEN = RuleInfo.of("PSM302")
VALUE_IS_DEFAULT = RuleInfo.of("PSM304")
VALUES_DO_NOT_RENDER = RuleInfo.of("PSM329")
_MENDS = {
    "nil pointer": "write the mapping that the chart reads, or remove the null that takes its own away",
    "into YAML as it is": "write a single line that is one plain word or number to YAML",
}


def mend_of_rendering(message: str) -> str | None:
    """What to do where a template stops with this; None: what the rule says."""
    return next((mend for part, mend in _MENDS.items() if part in message), None)


REFUSED_BY_DEFINITION = RuleInfo.of("PSM330")
