"""PSM150, PSM230 to PSM241: what a pool's GPUs are used for, sandboxes, partitions and sharing."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

MIG_GPU_GROUPS = RuleInfo(
    code="PSM150",
    name="mig-gpu-groups",
    severity=Severity.WARNING,
    what="A MIG layout of one's own names a GPU of the nodes in no group, or in two with different instances.",
    why="The MIG manager leaves a GPU of no group as it is, in whatever slices the layout before made; layouts that "
    "begin after GPU 0 are reported to fail. A GPU of two groups never has what the first says: the manager stops the "
    "GPU's clients and makes it anew at every start.",
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

GPU_USE = (
    SANDBOX_ERA,
    SANDBOX_CONTRADICTION,
    HOST_FACTS_UNDECLARED,
    AUTO_UPGRADE_OFF,
    MIG_LAYOUT,
    SHARING_CONTRADICTION,
)

PARTITIONS = (MIG_GPU_GROUPS,)
