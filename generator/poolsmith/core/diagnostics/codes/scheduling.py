"""PSM243 to PSM249: taints of pools, and pools whose nodes come and go."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

STARTUP_TAINT_MISSING = RuleInfo(
    code="PSM243",
    name="startup-taint-missing",
    severity=Severity.WARNING,
    what="A pool is autoscaled, and its new nodes have no startup taint.",
    why=(
        "A node is Ready long before its driver is loaded and its GPUs are advertised. Pods that wait for a GPU "
        "don't fit on it yet, so the autoscaler adds another node, and another. Or pods start too early, and fail."
    ),
    fix=(
        "give the pool `nodes.startupTaints`, and run something that removes the taint when the GPUs can be used: "
        "docs/scheduling.md says what can"
    ),
    bad="nodes: {autoscaled: true}\n",
    good=(
        "nodes:\n  autoscaled: true\n"
        "  startupTaints:\n    - {key: readiness.k8s.io/nvidia-gpu-not-ready, effect: NoSchedule}\n"
    ),
    symptom=(
        "one pending pod adds several nodes, and all but one are removed again; pods with the status "
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
    what="The distribution's autoscaler does not know that a startup taint is temporary.",
    why=(
        "An autoscaler knows a temporary taint by the prefix of its key, or by a flag. On GKE and AKS you can't set "
        "that flag. There the autoscaler expects the taint to stay: pending pods never fit, and the pool does not "
        "grow."
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
    what="Two taints of a pool, startup taints included, have the same key and the same effect.",
    why=(
        "The API server refuses a node with both. And a permanent taint can't also be a startup taint, because "
        "workloads that tolerate it would start too early."
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
    what="A pool has taints, and you can't make something that must run on its nodes tolerate them.",
    why=(
        "The CcRuntime of the Confidential Containers operator v0.7 has no field for tolerations. Whether its "
        "installer tolerates anything is unknown. If not, Kata is never installed on the nodes, and nothing reports "
        "it."
    ),
    fix="taint the nodes after Kata is installed, or remove the taint",
    bad="workload: kata\nnodes: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}\n",
    good="workload: kata\n",
    references=("confidential-containers/operator v0.7.0 config/crd",),
)
AUTOSCALED_BY_NAME = RuleInfo(
    code="PSM247",
    name="autoscaled-by-name",
    severity=Severity.WARNING,
    what="A pool is autoscaled, and its nodes are listed by name.",
    why=(
        "Then Node Feature Discovery writes the pool label, after a node has joined. An autoscaler without a node "
        "to look at uses the template, which lacks the label: it adds no node for pods that select the pool."
    ),
    fix="let the provisioner set the pool label, and remove `nodes.names`",
    bad='nodes: {autoscaled: true, names: ["gpu-[1-9]"]}\n',
    good="nodes: {autoscaled: true}\n",
    symptom="`pod didn't trigger scale-up: 1 node(s) didn't match Pod's node affinity/selector`",
    references=("NVIDIA/gpu-operator examples/cluster-autoscaler",),
)
OPT_OUT_NOT_KEPT = RuleInfo(
    code="PSM248",
    name="opt-out-not-kept",
    severity=Severity.NOTE,
    what="The nodes of a pool have a label that keeps an operand off them, and only the provisioner writes it.",
    why=(
        "The operator removes its labels from nodes without a GPU label: v26.7.0 whenever it looks at a node that Node "
        "Feature Discovery has not labelled yet, older releases when the GPU label goes. Kubelets and provisioners "
        "write a label once. Then a second driver or toolkit is installed on the node."
    ),
    fix="list the nodes in `nodes.names`: a NodeFeatureRule then writes the label again and again",
    bad="nodes: {count: 2}\ndriver: {source: preinstalled}   # beside pools with a driver container\n",
    good="nodes: {names: [gpu-1, gpu-2]}\ndriver: {source: preinstalled}\n",
    symptom="a driver or toolkit pod on a node that has its own; `nvidia.com/gpu.deploy.driver` is `true` there",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:controllers/nodelabeling_controller.go",
        "NVIDIA/gpu-operator@v26.3.3:controllers/state_manager.go",
    ),
)

SCHEDULING = (
    STARTUP_TAINT_MISSING,
    STARTUP_TAINT_PERMANENT,
    TAINT_TWICE,
    TAINT_WITHOUT_TOLERATION,
    AUTOSCALED_BY_NAME,
    OPT_OUT_NOT_KEPT,
)
