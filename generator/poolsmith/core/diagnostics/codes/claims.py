"""PSM140 to PSM149: GPUs by claims (DRA)."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

_PAGE = "NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/dra-intro-install.rst"

GPU_CLUSTER_PRECONDITION = RuleInfo(
    code="PSM140",
    name="gpu-cluster-needs",
    what="A cluster of kind gpu-cluster lacks what a GPUCluster needs.",
    why="The chart refuses to render, the GPUCluster never gets ready, or pods with claims never start.",
    fix="meet what the message names, or write `stack: {kind: operator}`",
    bad='kubernetes: {version: "1.33", distribution: kubeadm}\nstack: {kind: gpu-cluster, release: v26.7.0}\n',
    good='kubernetes: {version: "1.34.2", distribution: kubeadm}\nstack: {kind: gpu-cluster, release: v26.7.0}\n',
    symptom="`gpuCluster.deployCR=true requires a Kubernetes cluster that supports Dynamic Resource Allocation`",
    references=(_PAGE,),
)
GPU_CLUSTER_CHANGE = RuleInfo(
    code="PSM141",
    name="gpu-cluster-change",
    what="A cluster that has a ClusterPolicy is to get a GPUCluster, or the other way round.",
    why=(
        "NVIDIA supports no migration between them. While both exist the operator serves neither; labels, claims and "
        "operands of the one are in the way of the other."
    ),
    fix="make a new cluster for the other kind, and move workloads to it (docs/dra.md)",
    bad="stack: {kind: gpu-cluster, release: v26.7.0, upgradingFrom: v26.3.3}\n",
    good="stack: {kind: gpu-cluster, release: v26.7.0}   # in a new cluster\n",
    symptom="`PrerequisiteNotMet` in the conditions of the GPUCluster",
    references=(_PAGE, "NVIDIA/gpu-operator@v26.7.0:controllers/gpucluster_controller.go"),
)
DRA_GATES = RuleInfo(
    code="PSM142",
    name="dra-feature-gates",
    what="Feature gates of the DRA driver are unknown, exclude each other, or lack what they need.",
    why="The DRA driver refuses to start, and no claim is served.",
    fix="use gates of the driver that go together",
    bad="stack: {kind: gpu-cluster, draDriver: {featureGates: {DynamicMIG: true, MPSSupport: true}}}\n",
    good="stack: {kind: gpu-cluster, draDriver: {featureGates: {DynamicMIG: true}}}\n",
    references=(_PAGE,),
)
COMPUTE_DOMAIN = RuleInfo(
    code="PSM143",
    name="compute-domain",
    what="A pool says that its NVLink spans several nodes, and its GPUs have none that is documented.",
    why="ComputeDomains stay not ready: there is no NVLink fabric to join.",
    fix="remove `gpu.multiNodeNvlink`",
    bad="gpu: {product: NVIDIA-L40S, count: 4, multiNodeNvlink: true}\n",
    good="gpu: {product: GB200, count: 4, multiNodeNvlink: true}\n",
    references=(_PAGE,),
)

CLAIMS = (GPU_CLUSTER_PRECONDITION, GPU_CLUSTER_CHANGE, DRA_GATES, COMPUTE_DOMAIN)
