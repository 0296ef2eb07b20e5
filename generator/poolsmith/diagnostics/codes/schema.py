"""PSM3xx: Helm values and Kubernetes schemas."""

from poolsmith.diagnostics.codes.object_schema import OBJECT_SCHEMA
from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity

VALUE_TAKEN = RuleInfo(
    code="PSM302",
    name="value-taken",
    what="`stack.values` sets a value that poolsmith derives from the profiles.",
    why="The value has two sources, and the pools would no longer be what their profiles say.",
    fix="remove it from stack.values and write it in the profile",
)
VALUE_IS_DEFAULT = RuleInfo(
    code="PSM304",
    name="value-is-default",
    severity=Severity.NOTE,
    what="`stack.values` repeats a default of the chart.",
    why=("It is left out of the output, which has only what differs. A later release may change the default."),
    fix="remove it, unless it documents a decision",
)

SCHEMA = (VALUE_TAKEN, VALUE_IS_DEFAULT, *OBJECT_SCHEMA)
