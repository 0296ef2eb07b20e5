"""PSM6xx: policy files."""

from poolsmith.diagnostics.codes.privilege_policy import (
    GRANTS_NOT_ENFORCED,
    INCOMPLETE_PRIVILEGE_POLICY,
    NAMESPACE_NOT_HELD,
    PRIVILEGE_POLICY_TOO_LARGE,
    RUNNING_RELEASE_UNKNOWN,
    SCRIPT_NOT_KNOWN,
)
from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity

UNKNOWN_RULE = RuleInfo(
    code="PSM601",
    name="unknown-rule",
    applies_to="policy",
    what="A waiver or a setting names a rule that poolsmith does not have.",
    why="It does nothing, and whoever wrote it believes that it does.",
    fix="use a name or code of `poolsmith rules`",
    bad="rules: {host-networks: {severity: error}}\n",
    good="rules: {host-network: {severity: error}}\n",
)
FIXED_RULE = RuleInfo(
    code="PSM602",
    name="fixed-rule",
    applies_to="policy",
    what="A waiver or a setting would silence a rule that has to hold: reading and shape of files, policy files, "
    "and errors that keep a cluster from being generated.",
    why="What can't be read or generated is not there; to call it waived would make a run green over nothing.",
    fix="correct what the rule finds",
    bad="waivers: [{rule: yaml-syntax, subject: prod-eu, reason: later, owner: gpu-platform, expires: 2027-01-31}]\n",
)
EXPIRED_WAIVER = RuleInfo(
    code="PSM603",
    name="expired-waiver",
    applies_to="policy",
    what="A waiver is past its date.",
    why="Somebody promised to come back to it by then. Until it is looked at again, the finding counts.",
    fix="correct what is waived, or review the waiver and give it a new date",
    bad='expires: "2020-06-30"\n',
    good='expires: "2027-06-30"\n',
)
UNUSED_WAIVER = RuleInfo(
    code="PSM604",
    name="unused-waiver",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A waiver fits no finding of the run.",
    why="What was waived is gone, or was never named so. The waiver would silently hold for whatever comes next.",
    fix="delete the waiver",
)
UNEXPLAINED_WAIVER = RuleInfo(
    code="PSM605",
    name="unexplained-waiver",
    applies_to="policy",
    what="A waiver has no reason or no owner, or a placeholder in their place.",
    why="Nobody can review an exception that says neither why it is there nor who answers for it.",
    fix="write why the finding is accepted, and which team answers for it",
    bad="waivers: [{rule: host-network, subject: prod-eu, reason: TODO, owner: gpu-platform, expires: 2027-01-31}]\n",
    good="waivers:\n  - {rule: host-network, subject: prod-eu, reason: metrics are scraped on the node's address,\n"
    "     owner: gpu-platform, expires: 2027-01-31}\n",
)
UNEXPLAINED_SETTING = RuleInfo(
    code="PSM606",
    name="unexplained-setting",
    applies_to="policy",
    what="A setting turns a rule off, or makes its findings less severe, and gives no reason.",
    why="A rule that is off looks like a rule that found nothing.",
    fix="add `reason`",
    bad="rules: {host-network: {enabled: false}}\n",
    good="rules: {host-network: {enabled: false, reason: the exporter needs it on every pool}}\n",
)
UNKNOWN_PARAMETER = RuleInfo(
    code="PSM607",
    name="unknown-parameter",
    applies_to="policy",
    what="A setting gives a rule a parameter that the rule does not have.",
    why="It does nothing, and whoever wrote it believes that it does.",
    fix="use a parameter that stands on the rule's page, or remove it",
    bad="rules: {expiring-grant: {parameters: {weeks: 6}}}\n",
    good="rules: {expiring-grant: {parameters: {days: 45}}}\n",
)
NOT_EVALUATED = RuleInfo(
    code="PSM608",
    name="not-evaluated",
    applies_to="policy",
    what="Under --strict: something that belongs to the run could not be evaluated.",
    why="What nobody has looked at is neither right nor wrong.",
    fix="see the reason; without --strict it is counted only",
)
CHANGED_POLICIES = RuleInfo(
    code="PSM609",
    name="changed-policies",
    severity=Severity.WARNING,
    applies_to="policy",
    what="Under --policies-from: files of `policies/` are not those of the revision that judges.",
    why="What is judged is judged by the other revision. What is shipped to the clusters, policies, parameters and "
    "grants, is that of this one, and nobody but a reviewer can tell whether it holds less.",
    fix="have those who own policies/ read the change",
)

INVALID_ADMISSION_POLICY = RuleInfo(
    code="PSM610",
    name="invalid-admission-policy",
    applies_to="policy",
    what="A ValidatingAdmissionPolicy or its binding is not what the API server takes: a field that is missing, "
    "unknown or of the wrong type, a value that it does not have, a limit that is passed, or two fields that exclude "
    "each other.",
    why="The API server refuses the object, so what it says does not hold in the cluster.",
    fix="correct the field that the finding names",
    bad="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: a, validationActions: [Deny, Warn]}\n",
    good="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: a, validationActions: [Deny, Audit]}\n",
    references=("https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",),
)
BAD_EXPRESSION = RuleInfo(
    code="PSM611",
    name="bad-expression",
    applies_to="policy",
    what="An expression of a policy does not compile: bad syntax, a name or function that is not there, a result of "
    "the wrong type. Validations and match conditions have to be exactly bool, messages string, audit annotations "
    "string or null; `dyn` is refused.",
    why="The API server refuses the policy.",
    fix="correct the expression; the message and the column are those of CEL",
    bad="expression: object.spec.hostNetwork\n",
    good="expression: object.spec.hostNetwork == true\n",
)
EXPRESSION_TOO_NEW = RuleInfo(
    code="PSM612",
    name="expression-too-new",
    applies_to="policy",
    what="An expression uses what CEL has only in a later Kubernetes than the cluster's, or in the cluster's own minor "
    "and not in the one before: new policies are held to that, so that the cluster can go back to it.",
    why="The cluster's API server refuses the policy, or the policy answers every request with an error.",
    fix="write it without that function, or move the cluster to that version first",
    bad="# for a cluster with Kubernetes 1.34, which brought distinct()\n"
    "expression: object.spec.containers.map(c, string(c.name)).distinct().size() > 0\n",
    good="expression: object.spec.containers.exists(c, c.name != '')\n",
)
POLICY_WITHOUT_BINDING = RuleInfo(
    code="PSM613",
    name="policy-without-binding",
    severity=Severity.WARNING,
    applies_to="policy",
    what="No ValidatingAdmissionPolicyBinding names this policy.",
    why="A policy without a binding does nothing.",
    fix="add a ValidatingAdmissionPolicyBinding with its name in `spec.policyName`",
    bad="kind: ValidatingAdmissionPolicy\nmetadata: {name: exact-tags}\n",
    good="kind: ValidatingAdmissionPolicy\nmetadata: {name: exact-tags}\n---\n"
    "kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: exact-tags, validationActions: [Deny]}\n",
)
BINDING_WITHOUT_POLICY = RuleInfo(
    code="PSM614",
    name="binding-without-policy",
    applies_to="policy",
    what="A binding names a policy that is not there.",
    why="The binding does nothing, and whoever wrote it believes that the policy holds.",
    fix="correct `spec.policyName`, or delete the binding",
    bad="# the policy is called exact-tags\nkind: ValidatingAdmissionPolicyBinding\nspec: {policyName: exact-tag}\n",
    good="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: exact-tags}\n",
)
MISSING_PARAMETERS = RuleInfo(
    code="PSM615",
    name="missing-parameters",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A binding takes parameters that are not in the folder, or a policy with parameters is bound without any.",
    why="With `parameterNotFoundAction: Deny` every request is refused, with `Allow` nothing is checked; and what "
    "parameters in the cluster say can't be known here.",
    fix="put the parameter object beside the policy, or correct `spec.paramRef`",
    bad="# and there is no ConfigMap `limits` in policies/admission/\n"
    "paramRef: {name: limits, namespace: policies, parameterNotFoundAction: Allow}\n",
    good="# policies/admission/limits.yaml\nkind: ConfigMap\nmetadata: {name: limits, namespace: policies}\n",
)
MUTATING_POLICY = RuleInfo(
    code="PSM616",
    name="mutating-policy",
    applies_to="policy",
    what="A MutatingAdmissionPolicy or its binding.",
    why="poolsmith evaluates validating policies only; what this one changes would go unseen by every other check.",
    fix="write the changed fields into the objects themselves, and a ValidatingAdmissionPolicy that demands them",
    bad="kind: MutatingAdmissionPolicy\n",
    good="kind: ValidatingAdmissionPolicy\n",
)
STRAY_POLICY_OBJECT = RuleInfo(
    code="PSM617",
    name="stray-policy-object",
    severity=Severity.WARNING,
    applies_to="policy",
    what="An object among the policies that is neither a policy nor a binding, and not of a kind that some policy "
    "takes as its parameter (`paramKind`).",
    why="No policy reads it, and nobody looks for it there.",
    fix="move it to where it belongs, or correct the policy's `paramKind`",
    bad="# in policies/admission/limits.yaml, and no policy has a paramKind\nkind: ConfigMap\n"
    "metadata: {name: limits}\n",
)
DEPENDS_ON_DEFAULTING = RuleInfo(
    code="PSM618",
    name="depends-on-defaulting",
    severity=Severity.NOTE,
    applies_to="policy",
    what="An expression reads a field that the API server fills in where an object leaves it out.",
    why="The object in the cluster has the field, the one in the file may not: the verdict can differ.",
    fix="write the field into the object, or treat an absent field as its default",
    bad="expression: object.spec.replicas <= 3\n",
    good='expression: "!has(object.spec.replicas) || object.spec.replicas <= 3"\n',
)
POLICY_SAW_NOTHING = RuleInfo(
    code="PSM619",
    name="policy-saw-nothing",
    severity=Severity.NOTE,
    applies_to="policy",
    what="A policy matched no object of any cluster, neither rendered nor predicted.",
    why="That it refused nothing means nothing. Its match constraints may not say what they should.",
    fix="correct `spec.matchConstraints`; nothing to do, if the policy is for objects of others: its tests show what "
    "it does",
    bad="# DaemonSets are of the group apps\n"
    'resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [daemonsets]}]\n',
    good="resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [daemonsets]}]\n",
)
UNSHIPPABLE_OBJECT = RuleInfo(
    code="PSM620",
    name="unshippable-object",
    applies_to="policy",
    what="A file of policies/admission/ holds something else than ValidatingAdmissionPolicies, their bindings, "
    "ConfigMaps, CustomResourceDefinitions and custom resources that a policy of the folder takes as its parameter.",
    why="The files are applied to every cluster as they stand: a role binding or a workload among them would be in the "
    "cluster, and no ledger would show it.",
    fix="move it to where what the clusters run is reviewed",
    bad="# policies/admission/roles.yaml\nkind: ClusterRoleBinding\n",
    good="# policies/admission/limits.yaml\nkind: ConfigMap\n",
)
UNTESTED_POLICY = RuleInfo(
    code="PSM630",
    name="untested-policy",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A policy has no test case that passes it, or none that it refuses.",
    why="A policy that allows everything and one that refuses everything both look right from one side.",
    fix="add a case with `expect: {verdict: allow}` and one with `expect: {verdict: deny}` to a `*.test.yaml` beside "
    "it",
    bad="cases:\n  - {name: a release, objectFile: web.yaml, expect: {verdict: allow}}\n",
    good="cases:\n  - {name: a release, objectFile: web.yaml, expect: {verdict: allow}}\n"
    "  - {name: latest, objectFile: web-latest.yaml, expect: {verdict: deny, message: exact tag}}\n",
)
FAILED_POLICY_TEST = RuleInfo(
    code="PSM631",
    name="failed-policy-test",
    applies_to="policy",
    what="A case of a policy test has another verdict or message than it expects, or could not be evaluated.",
    why="The policy, the case, or what somebody thought of one of them is wrong.",
    fix="correct the policy or the case",
)
INVALID_POLICY_TEST = RuleInfo(
    code="PSM632",
    name="invalid-policy-test",
    applies_to="policy",
    what="A test file of policies can't be read as one, or names a file that is not there.",
    why="Its cases do not run, and the policy looks tested.",
    fix="correct the file names in `spec.policies`: they are looked for in the folder of the test file",
    bad="# the file is called exact-tags.yaml\nkind: PolicyTest\nspec: {policies: [exact-tag.yaml]}\n",
    good="kind: PolicyTest\nspec: {policies: [exact-tags.yaml]}\n",
)
POLICY_NOT_SERVED = RuleInfo(
    code="PSM641",
    name="policy-not-served",
    severity=Severity.NOTE,
    applies_to="policy",
    what="Files of admission policies are not shipped to a cluster, because its Kubernetes does not serve them: "
    "ValidatingAdmissionPolicy is there from 1.30 on.",
    why="`check` judges its objects all the same, as Kubernetes 1.30 would, but nothing holds them in the cluster.",
    fix="upgrade the cluster, or enforce the same there by other means",
    references=("Kubernetes 1.30 release notes: ValidatingAdmissionPolicy is v1 and on",),
)

POLICY: tuple[RuleInfo, ...] = (
    UNKNOWN_RULE,
    FIXED_RULE,
    EXPIRED_WAIVER,
    UNUSED_WAIVER,
    UNEXPLAINED_WAIVER,
    UNEXPLAINED_SETTING,
    UNKNOWN_PARAMETER,
    NOT_EVALUATED,
    CHANGED_POLICIES,
    INVALID_ADMISSION_POLICY,
    BAD_EXPRESSION,
    EXPRESSION_TOO_NEW,
    POLICY_WITHOUT_BINDING,
    BINDING_WITHOUT_POLICY,
    MISSING_PARAMETERS,
    MUTATING_POLICY,
    STRAY_POLICY_OBJECT,
    DEPENDS_ON_DEFAULTING,
    POLICY_SAW_NOTHING,
    UNSHIPPABLE_OBJECT,
    UNTESTED_POLICY,
    FAILED_POLICY_TEST,
    INVALID_POLICY_TEST,
    GRANTS_NOT_ENFORCED,
    POLICY_NOT_SERVED,
    SCRIPT_NOT_KNOWN,
    PRIVILEGE_POLICY_TOO_LARGE,
    NAMESPACE_NOT_HELD,
    INCOMPLETE_PRIVILEGE_POLICY,
    RUNNING_RELEASE_UNKNOWN,
)
