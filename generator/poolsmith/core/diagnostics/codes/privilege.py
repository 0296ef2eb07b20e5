"""PSM4xx, as far as no rule module holds the entry: privileges."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

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

PRIVILEGE: tuple[RuleInfo, ...] = (POD_SECURITY, COMMITTED_SECRET)
