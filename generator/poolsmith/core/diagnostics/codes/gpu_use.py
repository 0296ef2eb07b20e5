"""What a pool's GPUs are used for: sandboxes, partitions and sharing, claims (DRA), stacks without the operator.

PSM130 to PSM139: hosts of vGPUs. PSM140 to PSM149: GPUs by claims (DRA). PSM160 to PSM169: a GPU stack without the
operator. PSM190 to PSM199: Kata by its eras, and confidential pools. PSM150, PSM230 to PSM241: everything else.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

MIG_GPU_GROUPS = RuleInfo(
    code="PSM150",
    name="mig-gpu-groups",
    severity=Severity.WARNING,
    what="A MIG layout of your own names a GPU of the nodes in no group, or in two with different instances.",
    why="The MIG manager leaves a GPU of no group as it is, in whatever slices the layout before made; layouts that "
    "begin after GPU 0 are reported to fail. A GPU of two groups never has what the first says: the manager stops the "
    "GPU's clients and partitions it again at every start.",
    fix="name each GPU in one group; `migEnabled: false` keeps a GPU whole",
    bad="gpu: {product: A30, count: 2, mig: {layout: half, devices: [{devices: [1], migDevices: {1g.6gb: 4}}]}}\n",
    good="gpu: {product: A30, count: 2, mig: {layout: half, devices: [{devices: [0], migEnabled: false}, "
    "{devices: [1], migDevices: {1g.6gb: 4}}]}}\n",
    symptom="`nvidia.com/mig.config.state: failed`; a GPU has slices of an earlier layout, or "
    "`nvidia.com/gpu.product` ends in `-MIG-INVALID`",
    references=(
        "NVIDIA/mig-parted issue 157",
        "NVIDIA/mig-parted@bd7160f4:cmd/nvidia-mig-parted/assert/assert.go",
    ),
)
SANDBOX_ERA = RuleInfo(
    code="PSM230",
    name="sandbox-era",
    what="No way is known to run a pool's sandboxed workload with this release.",
    why="Kata was delivered in three different ways. For this release the sources don't say how.",
    fix="leave the pool out",
    bad="workload: kata   # with v24.6.1\n",
    good="workload: container\n",
    symptom="the RuntimeClass that the documentation names does not exist, but one with another name does",
    references=(
        "NVIDIA/gpu-operator issue 1906",
        "NVIDIA/k8s-kata-manager issue 59",
        "NVIDIA/cloud-native-docs@gpu-operator-v24.9.2-15:gpu-operator/gpu-operator-kata.rst",
    ),
)
SANDBOX_CONTRADICTION = RuleInfo(
    code="PSM231",
    name="sandbox-contradiction",
    what=(
        "A pool's sandboxed workload conflicts with its runtime, driver, sharing, MIG, GPU, processor, Kubernetes "
        "distribution, an upgrade, or the workload of another pool."
    ),
    why="The operator deploys nothing useful on such nodes, or the pods never start.",
    fix="remove what conflicts with the sandbox, or move the pool to a cluster of its own",
    bad="workload: kata\nruntime: {name: cri-o}\n",
    good="workload: kata\nruntime: {name: containerd}\n",
    symptom="GPUs are not bound for passthrough, and nothing says so; or operands for containers crash on such nodes",
    references=("NVIDIA/gpu-operator issues 568, 1995, 1899", "cozystack/cozystack issue 2763"),
)
HOST_FACTS_UNDECLARED = RuleInfo(
    code="PSM232",
    name="host-facts-undeclared",
    severity=Severity.WARNING,
    what="A passthrough pool says nothing about IOMMU, ACS or the nouveau driver on its hosts.",
    why="Passthrough fails without the right host settings, and no file shows them: somebody must check the hosts.",
    fix="declare the hosts' kernel arguments, or acknowledge what somebody checked: `acknowledge: [{fact: iommu}]`",
    bad="workload: vm-passthrough\n",
    good=(
        "workload: vm-passthrough\nkernel: {args: [amd_iommu=on, modprobe.blacklist=nouveau]}\n"
        "acknowledge: [{fact: acs, by: platform-team, date: 2026-11-20}]\n"
    ),
    symptom="GPUs can't be bound to vfio-pci: the IOMMU is off, or the nouveau driver was loaded first",
    references=(
        "kata-containers/kata-containers issue 10753",
        "kubernetes-sigs/image-builder issue 1468",
        "NVIDIA/cloud-native-docs@gpu-operator-v26.7-1, page deploy-kata-containers",
    ),
)
AUTO_UPGRADE_OFF = RuleInfo(
    code="PSM233",
    name="auto-upgrade-off",
    severity=Severity.NOTE,
    what=("sandboxWorkloads.enabled turns off the operator's driver upgrades on every node, also in container pools."),
    why="After a change of the driver version, the old driver runs until somebody deletes the driver pods.",
    fix="delete driver pods by hand after a change of the driver, or move the pool to a cluster of its own",
    symptom="driver pods keep the old version after a changed one was synced",
    references=("NVIDIA/gpu-operator:controllers/upgrade_controller.go",),
)
MIG_LAYOUT = RuleInfo(
    code="PSM240",
    name="mig-layout",
    what="The release does not know the MIG layout, or the GPU can't be partitioned like that.",
    why="The MIG manager sets the node's state to failed, and the GPUs can't be used.",
    fix="use a layout of the release and profiles of the GPU; define a layout of your own in `gpu.mig.devices`",
    bad="gpu: {product: A30, count: 1, mig: {layout: all-1g.10gb}}\n",
    good="gpu: {product: A30, count: 1, mig: {layout: all-1g.6gb}}\n",
    symptom="`nvidia.com/mig.config.state: failed` on the node",
    references=("NVIDIA/gpu-operator issues 262, 351, 2249", "NVIDIA/mig-parted issue 100 and pull request 101"),
)
SHARING_CONTRADICTION = RuleInfo(
    code="PSM241",
    name="sharing-contradiction",
    what="Sharing settings exclude each other, or don't match what the pool's GPUs advertise.",
    why="The device plugin stops when it starts.",
    fix="keep one way to share, and share a resource that the GPUs advertise",
    bad="sharing: {timeSlicing: {replicas: 2}, mps: {replicas: 2}}\n",
    good="sharing: {timeSlicing: {replicas: 2}}\n",
    references=("NVIDIA/k8s-device-plugin:README.md",),
)


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
    what="A pool says that its NVLink spans several nodes, and its GPUs have none that is documented. As a warning: a "
    "ComputeDomain beside a GPUCluster or a DRA driver that serve none; as a note where nothing here does.",
    why="ComputeDomains stay not ready: there is no NVLink fabric to join, or nobody who joins it.",
    fix="remove `gpu.multiNodeNvlink`, or the object; or turn `computeDomains` of the DRA driver on",
    bad="gpu: {product: NVIDIA-L40S, count: 4, multiNodeNvlink: true}\n",
    good="gpu: {product: GB200, count: 4, multiNodeNvlink: true}\n",
    references=(_PAGE,),
)


PARTITIONS_UNDECLARED = RuleInfo(
    code="PSM160",
    name="partitions-undeclared",
    severity=Severity.WARNING,
    what="A pool of the hand-installed stack has a MIG layout, and nothing says that its hosts make the partitions.",
    why="Only the operator brings a MIG manager. The device plugin advertises the partitions that it finds when it "
    "starts, and no file shows what there is on the hosts.",
    fix="make the partitions with nvidia-mig-parted or its systemd unit before the kubelet starts, and acknowledge it: "
    "`acknowledge: [{fact: mig-partitions}]`",
    bad="gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}\n",
    good="gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}\n"
    "acknowledge: [{fact: mig-partitions, by: platform-team, date: 2026-11-20}]\n",
    symptom="`Insufficient nvidia.com/mig-1g.10gb`, or whole GPUs where partitions are expected; the label "
    "nvidia.com/gpu.product says MIG-INVALID",
    references=(
        "NVIDIA/mig-parted:deployments/systemd/README.md",
        "NVIDIA/k8s-device-plugin:README.md, MIG strategies",
    ),
)


ERA_CHANGE = RuleInfo(
    code="PSM190",
    name="sandbox-era-change",
    what="An upgrade brings Kata in another way than the release before, and the old one is still there.",
    why=(
        "Each way writes containerd's configuration and makes runtime classes. Two of them undo each other's work, and "
        "what the first one left behind on the hosts is used by the second."
    ),
    fix=(
        "remove what the old release brought, in the order that the message names, and acknowledge it in the cluster: "
        "`acknowledge: [{fact: sandbox-era-left}]`; or install the release in a new cluster"
    ),
    bad="stack: {release: v26.3.3, upgradingFrom: v25.10.1}   # with a Kata pool\n",
    good=(
        "stack: {release: v26.3.3, upgradingFrom: v25.10.1}\n"
        "acknowledge: [{fact: sandbox-era-left, by: platform-team, date: 2026-11-20}]\n"
    ),
    symptom="pods of kata-nvidia-gpu stay pending after the upgrade, and containerd restarts again and again",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:controllers/object_controls.go, runtime classes of the Kata manager are deleted",
        "NVIDIA/cloud-native-docs@gpu-operator-v24.9.2-15:gpu-operator/gpu-operator-kata.rst, limitations",
    ),
)


VGPU_HOST = RuleInfo(
    code="PSM130",
    name="vgpu-host",
    what="A vGPU host pool lacks its vGPU manager, or can't run one.",
    why=(
        "The driver of vGPU hosts may not be published, so that each customer builds an image of it. Without one the "
        "operator's DaemonSet has no image, and no virtual machine gets a vGPU."
    ),
    fix="build the image, and name it in `driver.vgpuManager`; use GPUs and hosts that the documentation has",
    bad="workload: vm-vgpu\n",
    good=("workload: vm-vgpu\ndriver: {vgpuManager: {repository: registry.example.com/vgpu, version: 580.82.07}}\n"),
    symptom="`InvalidImageName` on nvidia-vgpu-manager-daemonset, and nodes without any `nvidia.com/` resource",
    references=(
        "NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-kubevirt.rst",
        "NVIDIA/gpu-driver-container@06a208ca9747:vgpu-manager",
    ),
)
VGPU_LAYOUT = RuleInfo(
    code="PSM131",
    name="vgpu-layout",
    what="The release does not know the layout of vGPUs, or the GPU can't be divided like that.",
    why="The vGPU device manager sets the node's state to failed, and no virtual machine gets a vGPU.",
    fix="use `default`, a type of vGPU of this GPU, or a layout of your own in `gpu.vgpu.devices`",
    bad="gpu: {product: NVIDIA-A10, count: 2, vgpu: {layout: A40-12Q}}\n",
    good="gpu: {product: NVIDIA-A10, count: 2, vgpu: {layout: A10-12Q}}\n",
    symptom="`nvidia.com/vgpu.config.state: failed` on the node",
    references=("NVIDIA/vgpu-device-manager@v0.5.0:api/spec/v1/spec.go",),
)
