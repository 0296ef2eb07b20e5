"""PSM6xx and PSM9xx: policy files, and the verdicts of the users' own admission policies."""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNKNOWN_RULE = RuleInfo(
    code="PSM601",
    name="unknown-rule",
    applies_to="policy",
    what="A waiver or a setting names a rule that poolsmith does not have.",
    why="It does nothing, but whoever wrote it believes that it does.",
    fix="use a name or code of `poolsmith rules`",
    bad="rules: {host-networks: {severity: error}}\n",
    good="rules: {host-network: {severity: error}}\n",
)
FIXED_RULE = RuleInfo(
    code="PSM602",
    name="fixed-rule",
    applies_to="policy",
    what="A waiver or a setting would turn off a rule that must stay on: reading and shape of files, policy files, "
    "and errors that keep a cluster from being generated.",
    why="A file that can't be read, or a cluster that can't be generated, is missing from the output. With a "
    "waiver, the run would be green although it checked nothing.",
    fix="correct what the rule finds",
    bad="waivers: [{rule: yaml-syntax, subject: prod-eu, reason: later, owner: gpu-platform, expires: 2027-01-31}]\n",
)
EXPIRED_WAIVER = RuleInfo(
    code="PSM603",
    name="expired-waiver",
    applies_to="policy",
    what="A waiver has passed its last day.",
    why="Somebody promised to review it by then. Until it is reviewed, the finding counts.",
    fix="correct what is waived, or review the waiver and give it a new date",
    bad='expires: "2020-06-30"\n',
    good='expires: "2027-06-30"\n',
)
UNUSED_WAIVER = RuleInfo(
    code="PSM604",
    name="unused-waiver",
    severity=Severity.WARNING,
    applies_to="policy",
    what="No finding of the run matches a waiver.",
    why="The finding is gone, or never had that subject. The waiver would silently accept the next finding with "
    "that subject.",
    fix="delete the waiver",
)
UNEXPLAINED_WAIVER = RuleInfo(
    code="PSM605",
    name="unexplained-waiver",
    applies_to="policy",
    what="A waiver has no reason or no owner, or only a placeholder.",
    why="Nobody can review an exception without a reason and an owner.",
    fix="write why the finding is accepted, and which team is responsible",
    bad="waivers: [{rule: host-network, subject: prod-eu, reason: TODO, owner: gpu-platform, expires: 2027-01-31}]\n",
    good="waivers:\n  - {rule: host-network, subject: prod-eu, reason: metrics are scraped on the node's address,\n"
    "     owner: gpu-platform, expires: 2027-01-31}\n",
)
UNEXPLAINED_SETTING = RuleInfo(
    code="PSM606",
    name="unexplained-setting",
    applies_to="policy",
    what="A setting turns a rule off, or lowers its severity, without a reason.",
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
    why="It does nothing, but whoever wrote it believes that it does.",
    fix="use a parameter from the rule's page, or remove it",
    bad="rules: {expiring-grant: {parameters: {weeks: 6}}}\n",
    good="rules: {expiring-grant: {parameters: {days: 45}}}\n",
)
NOT_EVALUATED = RuleInfo(
    code="PSM608",
    name="not-evaluated",
    applies_to="policy",
    what="With --strict: a part of the run could not be evaluated.",
    why="It is neither right nor wrong, because nobody checked it.",
    fix="see the reason; without --strict it is only counted",
)
CHANGED_POLICIES = RuleInfo(
    code="PSM609",
    name="changed-policies",
    severity=Severity.WARNING,
    applies_to="policy",
    what="With --policies-from: files in `policies/` differ from those of the revision whose policies judge.",
    why="The other revision's policies judge. But this revision's policies, parameters and grants are shipped to "
    "the clusters, and only a reviewer can decide whether they protect less.",
    fix="have the owners of policies/ review the change",
)

INVALID_ADMISSION_POLICY = RuleInfo(
    code="PSM610",
    name="invalid-admission-policy",
    applies_to="policy",
    what="The API server would refuse a ValidatingAdmissionPolicy or its binding: a field that is missing, unknown "
    "or of the wrong type, a value that is not allowed, a limit that is exceeded, or two fields that exclude "
    "each other.",
    why="The object never gets into the cluster, so it enforces nothing there.",
    fix="correct the field that the finding names",
    bad="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: a, validationActions: [Deny, Warn]}\n",
    good="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: a, validationActions: [Deny, Audit]}\n",
    references=("https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",),
)
BAD_EXPRESSION = RuleInfo(
    code="PSM611",
    name="bad-expression",
    applies_to="policy",
    what="An expression of a policy does not compile: bad syntax, an unknown name or function, a result of the wrong "
    "type. Validations and match conditions must be exactly bool, messages string, audit annotations string or "
    "null; `dyn` is refused.",
    why="The API server refuses the policy.",
    fix="correct the expression; the message and the column are those of CEL",
    bad="expression: object.spec.hostNetwork\n",
    good="expression: object.spec.hostNetwork == true\n",
)
EXPRESSION_TOO_NEW = RuleInfo(
    code="PSM612",
    name="expression-too-new",
    applies_to="policy",
    what="An expression needs the CEL of a later Kubernetes, or uses what only the cluster's own minor has: the API "
    "server checks new policies against the minor before, so that the cluster can be downgraded.",
    why="The cluster's API server refuses the policy, or the policy answers every request with an error.",
    fix="write it without that function, or upgrade the cluster to that version first",
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
    what="A binding names a policy that does not exist.",
    why="The binding does nothing, but whoever wrote it believes that the policy is active.",
    fix="correct `spec.policyName`, or delete the binding",
    bad="# the policy is called exact-tags\nkind: ValidatingAdmissionPolicyBinding\nspec: {policyName: exact-tag}\n",
    good="kind: ValidatingAdmissionPolicyBinding\nspec: {policyName: exact-tags}\n",
)
MISSING_PARAMETERS = RuleInfo(
    code="PSM615",
    name="missing-parameters",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A binding uses parameters that are not in the folder, or a policy with parameters is bound without any.",
    why="With `parameterNotFoundAction: Deny` every request is refused, with `Allow` nothing is checked. If the "
    "parameters exist only in the cluster, poolsmith can't know what they say.",
    fix="put the parameter object beside the policy, or correct `spec.paramRef`",
    bad="# and there is no ConfigMap `limits` in policies/admission/\n"
    "paramRef: {name: limits, namespace: policies, parameterNotFoundAction: Allow}\n",
    good="# policies/admission/limits.yaml\nkind: ConfigMap\nmetadata: {name: limits, namespace: policies}\n",
)
MUTATING_POLICY = RuleInfo(
    code="PSM616",
    name="mutating-policy",
    applies_to="policy",
    what="The folder has a MutatingAdmissionPolicy or its binding.",
    why="poolsmith evaluates only validating policies. No other check would see what this policy changes.",
    fix="write the changed fields into the objects themselves, and a ValidatingAdmissionPolicy that requires them",
    bad="kind: MutatingAdmissionPolicy\n",
    good="kind: ValidatingAdmissionPolicy\n",
)
STRAY_POLICY_OBJECT = RuleInfo(
    code="PSM617",
    name="stray-policy-object",
    severity=Severity.WARNING,
    applies_to="policy",
    what="An object among the policies is neither a policy nor a binding, and its kind is not one that a policy "
    "takes as its parameter (`paramKind`).",
    why="No policy reads it, and nobody expects it there.",
    fix="move it to where it belongs, or correct the policy's `paramKind`",
    bad="# in policies/admission/limits.yaml, and no policy has a paramKind\nkind: ConfigMap\n"
    "metadata: {name: limits}\n",
)
DEPENDS_ON_DEFAULTING = RuleInfo(
    code="PSM618",
    name="depends-on-defaulting",
    severity=Severity.NOTE,
    applies_to="policy",
    what="An expression reads a field that the API server fills in if an object leaves it out.",
    why="The object in the cluster has the field, but the one in the file may not: the verdict can differ.",
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
    why="It refused nothing because it saw nothing. Its match constraints may be wrong.",
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
    what="A file of policies/admission/ contains something other than ValidatingAdmissionPolicies, their bindings, the "
    "parameters that a binding selects (ConfigMaps, or custom resources of a kind that is defined in the folder), and "
    "the CustomResourceDefinitions of such parameters. Kinds and namespaces that Kubernetes, a delivery engine or an "
    "operator obeys are no parameters.",
    why="The files are applied to every cluster as they are: a role binding or a workload among them would get into "
    "the cluster, and no ledger would show it. A HelmRelease that a policy takes as its parameter is one all the same.",
    fix="move it to a folder where workloads of the clusters are reviewed",
    bad="# policies/admission/roles.yaml\nkind: ClusterRoleBinding\n",
    good="# policies/admission/limits.yaml, and a binding says paramRef: {name: limits, namespace: policies}\n"
    "kind: ConfigMap\nmetadata: {name: limits, namespace: policies}\n",
)
UNTESTED_POLICY = RuleInfo(
    code="PSM630",
    name="untested-policy",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A policy lacks a test case that it allows, or one that it denies.",
    why="With one kind of case only, a policy that allows everything, or denies everything, looks right.",
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
    what="The verdict or message of a test case is not the expected one, or the case could not be evaluated.",
    why="The policy is wrong, or the case, or what somebody expected of them.",
    fix="correct the policy or the case",
)
INVALID_POLICY_TEST = RuleInfo(
    code="PSM632",
    name="invalid-policy-test",
    applies_to="policy",
    what="A test file of policies can't be read, or names a file that does not exist.",
    why="Its cases do not run, but the policy looks tested.",
    fix="correct the file names in `spec.policies`: they are relative to the folder of the test file",
    bad="# the file is called exact-tags.yaml\nkind: PolicyTest\nspec: {policies: [exact-tag.yaml]}\n",
    good="kind: PolicyTest\nspec: {policies: [exact-tags.yaml]}\n",
)
POLICY_NOT_SERVED = RuleInfo(
    code="PSM641",
    name="policy-not-served",
    severity=Severity.NOTE,
    applies_to="policy",
    what="Admission policies are not shipped to a cluster, because its Kubernetes does not have "
    "ValidatingAdmissionPolicy: it exists from 1.30 on.",
    why="`check` evaluates them as Kubernetes 1.30 would, but nothing enforces them in the cluster.",
    fix="upgrade the cluster, or enforce the same there by other means",
    references=("Kubernetes 1.30 release notes: ValidatingAdmissionPolicy is v1 and on",),
)
EXPIRED_BASELINE = RuleInfo(
    code="PSM648",
    name="expired-baseline",
    severity=Severity.WARNING,
    applies_to="policy",
    what="Entries of a baseline have passed their last day, and their findings are still there.",
    why="A baseline gives time to mend. When the time is over, the findings count again.",
    fix="correct the findings; or give an entry a new day in `expires`, in a change that somebody reviews",
    bad="expires: 2020-06-30\n",
    good="expires: 2027-06-30\n",
)
UNUSED_BASELINE = RuleInfo(
    code="PSM649",
    name="unused-baseline-entry",
    severity=Severity.NOTE,
    applies_to="policy",
    what="An entry of a baseline accepts more findings than there are.",
    why="The finding is fixed. The entry would accept it again when it comes back.",
    fix="remove the entry: `--write-baseline` with the same paths and flags does so",
)


_WHY = "The API server would refuse it too, but only when the object is applied, after the merge."
_FIX = "change what the profile asks for, or the policy"

DENIED_BY_POLICY = RuleInfo(
    code="PSM901",
    name="denied-by-policy",
    what="A ValidatingAdmissionPolicy of the project, bound with Deny, refuses an object that is generated, or that "
    "the operator will create.",
    why=_WHY,
    fix=_FIX,
    bad="# cluster.yaml, and a policy refuses pods in the network of their node\n"
    "stack: {release: v26.3.3, values: {dcgmExporter: {hostNetwork: true}}}\n",
    good="# cluster.yaml\nstack: {release: v26.3.3}\n",
)
WARNED_BY_POLICY = RuleInfo(
    code="PSM902",
    name="warned-by-policy",
    severity=Severity.WARNING,
    what="A ValidatingAdmissionPolicy of the project, bound with Warn, warns about an object that is generated, or "
    "that the operator will create.",
    why="The API server would accept the object and warn whoever applies it. For pods that is a controller, and "
    "nobody reads the warning.",
    fix=_FIX,
)
AUDITED_BY_POLICY = RuleInfo(
    code="PSM903",
    name="audited-by-policy",
    severity=Severity.NOTE,
    what="A ValidatingAdmissionPolicy of the project, bound with Audit, would record an object in the audit log.",
    why="The API server would accept the object, and only readers of the audit log would know.",
    fix=_FIX,
)
UNDECIDED_BY_POLICY = RuleInfo(
    code="PSM904",
    name="undecided-by-policy",
    severity=Severity.NOTE,
    what="A policy could not be evaluated without a cluster: it asks the authorizer, reads what nobody can know "
    "here, or exceeds a limit of the engine.",
    why="It neither passed nor failed; with --strict that is an error.",
    fix="see the reason; `poolsmith policy eval` shows it for one object",
    bad="expression: authorizer.group('').resource('pods').check('delete').allowed()\n",
    good="expression: object.metadata.namespace == 'gpu-operator'\n",
)
