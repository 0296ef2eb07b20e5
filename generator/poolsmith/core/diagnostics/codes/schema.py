"""PSM3xx: Helm values and Kubernetes schemas."""

from poolsmith.core.diagnostics.codes.object_schema import OBJECT_SCHEMA
from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

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
VALUES_DO_NOT_RENDER = RuleInfo(
    code="PSM329",
    name="values-do-not-render",
    applies_to="values",
    what=(
        "A template of the chart stops at a value, or writes it where it would be read as something else: a chart "
        "writes text, and a line break, `: `, ` #`, a quote or a leading `{` in it can end the place that it stands in."
    ),
    why="Rendering fails, or adds keys, containers or whole objects that nobody sees in the review.",
    fix="write a single line that is one plain word or number to YAML, or the type that the chart takes there",
    bad='operator:\n  priorityClassName: "a\\n      hostPID: true"\n',
    good="operator:\n  priorityClassName: system-node-critical\n",
    references=("the templates of the chart at its tag",),
)
REFUSED_BY_DEFINITION = RuleInfo(
    code="PSM330",
    name="refused-by-definition",
    applies_to="values",
    what="The chart writes a value into an object whose schema does not take it: a field that is not declared, such as "
    "`valueFrom` in variables of operands, a wrong type, or an entry that stands twice.",
    why="Server-side apply, which Flux and Argo CD use, refuses the whole object. A plain create drops an undeclared "
    "field, so that the value has no effect.",
    fix="write what the field takes, or remove it",
    bad="toolkit:\n  env:\n    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}\n",
    good="toolkit:\n  env:\n    - {name: LOG_LEVEL, value: debug}\n",
    symptom=".spec.toolkit.env[0].valueFrom: field not declared in schema",
    references=("the definitions of the operator's release", "the OpenAPI definitions of Kubernetes"),
)

SCHEMA = (VALUE_TAKEN, VALUE_IS_DEFAULT, *OBJECT_SCHEMA, VALUES_DO_NOT_RENDER, REFUSED_BY_DEFINITION)
