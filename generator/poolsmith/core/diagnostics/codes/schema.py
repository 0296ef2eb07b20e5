"""PSM3xx: Helm values; PSM31x: Kubernetes objects against the schemas of their kinds."""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

SCHEMA_VIOLATION = RuleInfo(
    code="PSM310",
    name="schema-violation",
    applies_to="manifest",
    what="An object does not match the schema of its kind: type, enum, pattern, bounds, a missing required field, "
    "a validation rule of its CustomResourceDefinition, or what the API server asks of built-in kinds across fields.",
    why="The API server refuses the object, and the sync stops in the middle of a unit.",
    bad="kind: DaemonSet\nspec: {template: {spec: {hostPID: 'true'}}}\n",
    good="kind: DaemonSet\nspec: {template: {spec: {hostPID: true}}}\n",
    references=("the OpenAPI definitions of Kubernetes", "the CustomResourceDefinitions of each project"),
)
UNKNOWN_OBJECT_FIELD = RuleInfo(
    code="PSM311",
    name="unknown-object-field",
    applies_to="manifest",
    what="An object sets a field that the schema of its kind does not have in this version.",
    why="The API server drops the field or refuses the object, so the field has no effect.",
    bad="kind: DaemonSet\nspec: {template: {spec: {nodeSelecter: {gpu: 'true'}}}}\n",
    good="kind: DaemonSet\nspec: {template: {spec: {nodeSelector: {gpu: 'true'}}}}\n",
)
NULL_FIELD = RuleInfo(
    code="PSM312",
    name="null-field",
    severity=Severity.NOTE,
    applies_to="manifest",
    what="A field of a built-in object is null. Not reported: `metadata.creationTimestamp`, which Kubernetes' own "
    "tools write as null.",
    why="The API server takes null as absent, as an empty string or as an empty object; other tools refuse it. A "
    "value with the wrong indentation below it may be lost.",
    fix="write the value, or remove the key",
    bad="kind: ConfigMap\ndata:\n",
    good="kind: ConfigMap\ndata: {}\n",
)
DUPLICATE_ENTRY = RuleInfo(
    code="PSM313",
    name="duplicate-entry",
    applies_to="manifest",
    what="A list whose entries have an identity (a name, a port and protocol) has the same entry twice.",
    why="In a custom resource the API server refuses it, in a built-in kind server-side apply does, which Flux always "
    "and Argo CD often uses. Any other way to apply keeps one of the two entries, and does not say which.",
    fix="keep one of the two",
    bad="env: [{name: A, value: x}, {name: A, value: y}]\n",
    good="env: [{name: A, value: y}]\n",
)
KIND_WITHOUT_SCHEMA = RuleInfo(
    code="PSM314",
    name="kind-without-schema",
    severity=Severity.NOTE,
    applies_to="manifest",
    what="There is no schema for this kind in this version, or its version is unknown, so the object was not "
    "validated. Kinds of projects whose definitions are not known are only counted.",
    why="Without this note, the report would look as if the object had been validated.",
)
KIND_NOT_SERVED = RuleInfo(
    code="PSM315",
    name="kind-not-served",
    applies_to="manifest",
    what="The API group is known, but in this version it does not have this kind: it was removed, does not exist "
    "yet, or the name has a typo.",
    why="The API server answers `no matches for kind`, and the sync stops.",
    bad="apiVersion: policy/v1beta1\nkind: PodDisruptionBudget   # gone since Kubernetes 1.25\n",
    good="apiVersion: policy/v1\nkind: PodDisruptionBudget\n",
)
KUBECONFORM_DISAGREEMENT = RuleInfo(
    code="PSM316",
    name="kubeconform-disagreement",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="kubeconform, with the same schemas, has another verdict on an object than poolsmith.",
    why="One of the two reads the file or the schema wrongly. Until it is clear which, don't rely on either verdict.",
    fix="look at this line, and report to the project which of the two is wrong",
)


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
    fix="write the type that the chart's own values have there; of a text a single line that is one plain word to YAML",
    bad='operator:\n  priorityClassName: "a\\n      hostPID: true"\n',
    good="operator:\n  priorityClassName: system-node-critical\n",
    references=("the templates of the chart at its tag",),
)
_MENDS = {
    "nil pointer": "write the mapping that the chart reads, or remove the null that takes its own away",
    "into YAML as it is": "write a single line that is one plain word or number to YAML",
}


def mend_of_rendering(message: str) -> str | None:
    """What to do where a template stops with this; None: what the rule says."""
    return next((mend for part, mend in _MENDS.items() if part in message), None)


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
