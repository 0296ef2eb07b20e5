"""PSM243 to PSM249: taints of pools, and pools whose nodes come and go."""

from poolsmith.diagnostics.rule_info import RuleInfo
from poolsmith.diagnostics.severity import Severity

STARTUP_TAINT_MISSING = RuleInfo(
    code="PSM243",
    name="startup-taint-missing",
    severity=Severity.WARNING,
    what="A pool is autoscaled, and its new nodes have no startup taint.",
    why=(
        "A node is Ready long before its driver is loaded and its GPUs are advertised. Pods that wait for a GPU don't "
        "fit on it yet, so the autoscaler adds the next node, and the next one; or they start too early, and fail."
    ),
    fix=(
        "give the pool `nodes.startupTaints`, and have something remove the taint once the GPUs can be used: "
        "docs/scheduling.md says what can"
    ),
    bad="nodes: {autoscaled: true}\n",
    good=(
        "nodes:\n  autoscaled: true\n"
        "  startupTaints:\n    - {key: readiness.k8s.io/nvidia-gpu-not-ready, effect: NoSchedule}\n"
    ),
    symptom=(
        "one pending pod adds several nodes, of which all but one are removed again; pods with the status "
        "`OutOfnvidia.com/gpu` or `UnexpectedAdmissionError`"
    ),
    references=(
        "NVIDIA/gpu-operator issue 708",
        "NVIDIA/k8s-device-plugin issue 1746",
        "aws/karpenter-provider-aws issue 1459",
    ),
)
STARTUP_TAINT_PERMANENT = RuleInfo(
    code="PSM244",
    name="startup-taint-permanent",
    severity=Severity.WARNING,
    what="The autoscaler of the distribution does not take a startup taint for a temporary one.",
    why=(
        "It takes a taint for temporary by the prefix of its key, or by a flag; the autoscalers of GKE and AKS have no "
        "flag that users may set. To them the taint stays: pending pods never fit, and the pool is not scaled up."
    ),
    fix="use a key that begins with startup-taint.cluster-autoscaler.kubernetes.io/",
    bad="startupTaints: [{key: example.com/gpu-not-ready, effect: NoSchedule}]\n",
    good="startupTaints: [{key: startup-taint.cluster-autoscaler.kubernetes.io/gpu-not-ready, effect: NoSchedule}]\n",
    symptom="`pod didn't trigger scale-up: 1 node(s) had untolerated taint`",
    references=("kubernetes/autoscaler cluster-autoscaler/utils/taints/taints.go", "NVIDIA/gpu-operator issue 423"),
)
TAINT_TWICE = RuleInfo(
    code="PSM245",
    name="taint-twice",
    what="Two taints of a pool, startup taints included, have one key and one effect.",
    why=(
        "A node can't have both: the API server refuses it. And a taint that stays can't be a startup taint as well, "
        "because workloads that tolerate it would start too early."
    ),
    fix="keep one of them",
    bad="taints: [{key: team, value: a, effect: NoSchedule}, {key: team, value: b, effect: NoSchedule}]\n",
    good="taints: [{key: team, value: a, effect: NoSchedule}]\n",
    symptom="`spec.taints[1]: Duplicate value`",
    references=("Kubernetes, taints and tolerations",),
)
TAINT_WITHOUT_TOLERATION = RuleInfo(
    code="PSM246",
    name="taint-without-toleration",
    severity=Severity.WARNING,
    what="A pool has taints, and something that must run on its nodes can't be told to tolerate them.",
    why=(
        "The CcRuntime of the Confidential Containers operator v0.7 has no field for tolerations; whether its "
        "installer tolerates anything is unknown. If not, Kata never gets onto the nodes, and nothing reports it."
    ),
    fix="taint the nodes once Kata is installed, or leave the taint out",
    bad="workload: kata\nnodes: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}\n",
    good="workload: kata\n",
    references=("confidential-containers/operator v0.7.0 config/crd",),
)
AUTOSCALED_BY_NAME = RuleInfo(
    code="PSM247",
    name="autoscaled-by-name",
    severity=Severity.WARNING,
    what="A pool is autoscaled, and its nodes are told by their names.",
    why=(
        "The pool label then comes from Node Feature Discovery, after a node has joined. An autoscaler that has no "
        "node to look at decides by the template, which lacks it: for pods that select the pool it adds none."
    ),
    fix="let the provisioner set the pool label, and remove `nodes.names`",
    bad='nodes: {autoscaled: true, names: ["gpu-[1-9]"]}\n',
    good="nodes: {autoscaled: true}\n",
    symptom="`pod didn't trigger scale-up: 1 node(s) didn't match Pod's node affinity/selector`",
    references=("NVIDIA/gpu-operator examples/cluster-autoscaler",),
)

SCHEDULING = (
    STARTUP_TAINT_MISSING,
    STARTUP_TAINT_PERMANENT,
    TAINT_TWICE,
    TAINT_WITHOUT_TOLERATION,
    AUTOSCALED_BY_NAME,
)
