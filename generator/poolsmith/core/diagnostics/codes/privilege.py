"""PSM4xx and PSM64x: privileges, and grants as an admission policy. Entries of rules stand in the rules' own files."""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

POD_SECURITY = RuleInfo(
    code="PSM420",
    name="pod-security",
    applies_to="manifest",
    what="A pod, or the template of a workload's pods, asks for something that its level of the Kubernetes Pod "
    "Security Standards forbids. The level is that of `--pod-security`, or the one that its namespace enforces.",
    why="In a namespace that enforces the level, the API server refuses such pods. It does so when pods are "
    "created: the Deployment or DaemonSet itself is accepted, but its pods are never created.",
    fix="change the field as the finding says, or run the pod in a namespace whose level allows it",
    bad="kind: Pod\nspec:\n  containers:\n    - {name: main, image: app, securityContext: {privileged: true}}\n",
    good="kind: Pod\nspec:\n  containers:\n    - {name: main, image: app}\n",
    symptom='`pods "..." is forbidden: violates PodSecurity "baseline:latest": privileged`',
    references=(
        "Kubernetes Pod Security Standards",
        "k8s.io/pod-security-admission at v0.37.0",
        "NVIDIA/gpu-operator issues 185, 314, 364",
        "intel/intel-device-plugins-for-kubernetes issue 1909",
    ),
)

COMMITTED_SECRET = RuleInfo(
    code="PSM430",
    name="committed-secret",
    applies_to="policy",
    what="A profile or a policy file holds what has the shape of a secret: a private key, a token of a known kind, "
    "credentials of a registry. poolsmith never prints it. In Helm values PSM429 says so.",
    why="Whoever can read the repository, or any clone of it, has the secret, also after it was removed.",
    fix="put it into a Secret in the cluster and name that; then revoke the one that was committed",
    bad="reason: the key is nvapi-...\n",
    good="reason: the key is in the Secret ngc\n",
    references=("Kubernetes, good practices for Secrets",),
)


GRANTS_NOT_ENFORCED = RuleInfo(
    code="PSM640",
    name="grants-not-enforced",
    severity=Severity.NOTE,
    applies_to="policy",
    what="A cluster's grants are not compiled into an admission policy, because its Kubernetes is older than 1.30.",
    why="Predicted pods are checked against the grants, but nothing in the cluster refuses other pods.",
    fix="upgrade the cluster, or protect its namespaces by other means",
    references=("Kubernetes 1.30 release notes: ValidatingAdmissionPolicy is v1 and on",),
)
SCRIPT_NOT_KNOWN = RuleInfo(
    code="PSM642",
    name="script-not-known",
    severity=Severity.WARNING,
    applies_to="policy",
    what="A predicted container runs an inline script of which the catalog has only the length, so the privilege "
    "policy refuses it, or warns about it.",
    why="A policy that accepts any script of that length would also accept an attacker's script.",
    fix="copy the script from the operand's DaemonSet, read it, and put it under `scripts` in "
    "policies/enforcement.yaml",
)
PRIVILEGE_POLICY_TOO_LARGE = RuleInfo(
    code="PSM643",
    name="privilege-policy-too-large",
    applies_to="policy",
    what="The data of a cluster's privilege policy is too large to be stored and applied safely, so the cluster gets "
    "no privilege policy.",
    why="Client-side apply keeps a copy in an annotation of at most 256 KiB, and the API server accepts expressions "
    "of at most 100,000 letters.",
    fix="split the cluster, or give fewer of its pools their own driver",
)
POD_TOO_COSTLY = RuleInfo(
    code="PSM647",
    name="pod-too-costly-to-judge",
    applies_to="policy",
    what="A predicted pod has so many containers, variables, mounts or volumes that judging it by the privilege policy "
    "may cost more than the API server spends on an expression.",
    why="Where the cost is exceeded, the policy ends in an error, and the pod is refused, whatever it is granted.",
    fix="give the workload fewer variables (some 900 in a container are possible) or mounts (some 250 in a pod)",
)
NAMESPACE_NOT_HELD = RuleInfo(
    code="PSM644",
    name="namespace-not-held",
    severity=Severity.NOTE,
    applies_to="policy",
    what="The privilege policy leaves out a namespace with privileged workloads, because others share it, like "
    "kube-system, or because nobody can predict what a unit installs there.",
    why="The policy would refuse every unknown pod there. Without it, it restricts nobody who may create pods in "
    "that namespace.",
    fix="install the unit in a namespace of its own; protect what is not predicted by other means",
    bad="stack: {kind: device-plugin, release: v0.17.1}   # kube-system, by default\n",
    good="stack: {kind: device-plugin, release: v0.17.1, namespace: nvidia-device-plugin}\n",
)
RUNNING_RELEASE_UNKNOWN = RuleInfo(
    code="PSM646",
    name="running-release-unknown",
    severity=Severity.WARNING,
    what="The profiles can't be planned for the release that `stack.upgradingFrom` names, so the privilege policy "
    "accepts only pods of the new release.",
    why="Until the operator is upgraded, pods of the old release that restart are refused, or cause a warning.",
    fix="set the actions to Warn and Audit during the upgrade",
    bad="stack: {release: v26.3.3, upgradingFrom: v24.0.0}\n",
    good="stack: {release: v26.3.3, upgradingFrom: v25.10.1}\n",
)
INCOMPLETE_PRIVILEGE_POLICY = RuleInfo(
    code="PSM645",
    name="incomplete-privilege-policy",
    severity=Severity.NOTE,
    applies_to="policy",
    what="Something of a cluster could not be predicted, so its privilege policy does not know it.",
    why="Its pods are refused, or cause a warning, although somebody may have wanted them.",
    fix="see `unknown` in privileges.yaml for what is missing; keep the actions at Warn and Audit until it is known",
)
