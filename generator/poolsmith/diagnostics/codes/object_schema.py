"""PSM31x: Kubernetes objects against the schemas of their kinds."""

from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity

SCHEMA_VIOLATION = RuleInfo(
    code="PSM310",
    name="schema-violation",
    applies_to="manifest",
    what="A value of an object is not what the schema of its kind allows: type, enum, pattern, bounds, a required "
    "field that is missing, or a validation rule of its CustomResourceDefinition.",
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
    why="The API server drops the field or refuses the object; what was meant does not happen.",
    bad="kind: DaemonSet\nspec: {template: {spec: {nodeSelecter: {gpu: 'true'}}}}\n",
    good="kind: DaemonSet\nspec: {template: {spec: {nodeSelector: {gpu: 'true'}}}}\n",
)
NULL_FIELD = RuleInfo(
    code="PSM312",
    name="null-field",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A field of a built-in object is null. Left out: `metadata.creationTimestamp`, which Kubernetes' own tools "
    "write as null.",
    why="The API server takes it as absent, an empty string or an empty object; other tools refuse it, and an indented "
    "value below it may have been lost.",
    fix="write the value, or remove the key",
    bad="kind: ConfigMap\ndata:\n",
    good="kind: ConfigMap\ndata: {}\n",
)
DUPLICATE_ENTRY = RuleInfo(
    code="PSM313",
    name="duplicate-entry",
    applies_to="manifest",
    what="A list whose entries have an identity (a name, a port and protocol) holds one of them twice.",
    why="For a custom resource the API server refuses it. For a built-in kind server-side apply does, which Flux "
    "always and Argo CD often uses; otherwise one of the two counts. There it is a warning.",
    fix="keep one of the two",
    bad="env: [{name: A, value: x}, {name: A, value: y}]\n",
    good="env: [{name: A, value: y}]\n",
)
KIND_WITHOUT_SCHEMA = RuleInfo(
    code="PSM314",
    name="kind-without-schema",
    severity=Severity.NOTE,
    applies_to="manifest",
    what="No schema of this kind is known, or not for the version in question, so the object was not validated.",
    why="A report without findings would else look as if it had been.",
)
KIND_NOT_SERVED = RuleInfo(
    code="PSM315",
    name="kind-not-served",
    applies_to="manifest",
    what="The API group is known, and in this version it does not have this kind: it was removed, is not there yet, or "
    "the name has a typo.",
    why="The API server answers `no matches for kind`, and the sync stops.",
    bad="apiVersion: policy/v1beta1\nkind: PodDisruptionBudget   # gone since Kubernetes 1.25\n",
    good="apiVersion: policy/v1\nkind: PodDisruptionBudget\n",
)
KUBECONFORM_DISAGREEMENT = RuleInfo(
    code="PSM316",
    name="kubeconform-disagreement",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="kubeconform, run with the same schemas, comes to another verdict on an object than poolsmith.",
    why="One of the two reads the file or the schema wrong; until it is clear which, neither verdict is safe.",
    fix="look at the place, and tell the project which of the two is wrong",
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
