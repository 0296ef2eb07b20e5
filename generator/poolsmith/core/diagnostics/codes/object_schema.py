"""PSM31x: Kubernetes objects against the schemas of their kinds."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

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

OBJECT_SCHEMA = (
    SCHEMA_VIOLATION,
    UNKNOWN_OBJECT_FIELD,
    NULL_FIELD,
    DUPLICATE_ENTRY,
    KIND_WITHOUT_SCHEMA,
    KIND_NOT_SERVED,
    KUBECONFORM_DISAGREEMENT,
)
