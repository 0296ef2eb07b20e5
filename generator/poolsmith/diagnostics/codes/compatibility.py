"""PSM2xx: what fits together. Floor: diagnostics."""

from poolsmith.diagnostics.diagnostic import Severity
from poolsmith.diagnostics.rule_info import RuleInfo

UNKNOWN_RELEASE = RuleInfo(
    code="PSM201",
    name="unknown-release",
    what="The catalog has no entry for a release.",
    why=("Values, image tags and labels differ from release to release; for an unknown one nothing can be said."),
)
UNKNOWN_OPERATING_SYSTEM = RuleInfo(
    code="PSM202",
    name="unknown-operating-system",
    what="The catalog does not know an operating system or its version.",
    why="The driver image's tag follows from it; a guess ends in ImagePullBackOff on every node.",
    fix="correct the id or version, or say with `os.imageTag` and `driver.repository` which images of yours there are",
    symptom="ImagePullBackOff of nvidia-driver-daemonset: manifest unknown, of a tag that ends in debian12",
    references=("NVIDIA/gpu-operator issues 1212, 1623, 1533",),
)
UNKNOWN_DISTRIBUTION = RuleInfo(
    code="PSM203",
    name="unknown-distribution",
    what="The catalog does not know a Kubernetes distribution, or it is not delivered by Helm.",
    why="Container runtime paths and node provisioning follow from it.",
    fix="leave the cluster out; its manifests can be checked all the same, with `poolsmith check PATH`",
)
UNKNOWN_GPU = RuleInfo(
    code="PSM204",
    name="unknown-gpu",
    what="The catalog does not know a GPU product.",
    why="Kernel module type, last driver branch, MIG and passthrough resource names follow from it.",
)
UNKNOWN_RUNTIME = RuleInfo(
    code="PSM205",
    name="unknown-runtime",
    what="A pool names a container runtime that the operator does not recognise.",
    why="The operator would fall back to containerd, and configure a runtime that is not there.",
)
NOT_GENERATED_YET = RuleInfo(
    code="PSM206",
    name="not-generated-yet",
    what="A profile asks for something that poolsmith can't generate in a form that works.",
    why="Half a configuration is worse than none: it syncs, and fails on the nodes.",
)
PATHS_UNKNOWN = RuleInfo(
    code="PSM207",
    name="paths-unknown",
    what=(
        "The catalog knows no container runtime paths for a distribution in a release, "
        "and they decide what is generated."
    ),
    why="The toolkit would configure files that the runtime does not read.",
)
NO_SUPPORT_ROW = RuleInfo(
    code="PSM208",
    name="no-support-row",
    severity=Severity.NOTE,
    what="No support matrix has a row for a combination.",
    why="It may well work; nobody has said that it does.",
)
DRIVER_DISAGREEMENT = RuleInfo(
    code="PSM210",
    name="driver-disagreement",
    what="Pools ask for different drivers, and the cluster's driverMode has room for one.",
    why="A ClusterPolicy has one driver version, one source and one operating system tag for all nodes.",
    fix="write `stack.driverMode: nvidia-driver`, and each pool gets a driver of its own",
    symptom="all driver pods restart when a node of another system joins, and pull an image for the wrong system",
    references=(
        "NVIDIA/gpu-operator issues 328, 94, 433, 323",
        "NVIDIA/aicr issue 2516",
    ),
)
DRIVER_VERSION_FORM = RuleInfo(
    code="PSM211",
    name="driver-version-form",
    what="driver.version has not the form that its source takes.",
    why="A precompiled image is named by branch and kernel, a container image by the full version.",
    bad="driver: {source: precompiled, version: 535.183.01}\n",
    good='driver: {source: precompiled, version: "535"}\n',
    fix='write a branch for a precompiled driver, as "580", and a full version for a compiled one',
    symptom="ImagePullBackOff of nvidia-driver-daemonset: manifest unknown",
    references=("NVIDIA/gpu-operator issue 933",),
)
DRIVER_SOURCE_MISSING = RuleInfo(
    code="PSM212",
    name="driver-source-missing",
    what="A pool that runs containers does not say where its driver comes from.",
    why="Who supplies driver and toolkit is the first question that a pool must answer.",
    fix="write `driver.source`: container, precompiled or preinstalled",
    symptom="driver pods in CrashLoopBackOff on nodes whose image has a driver, and none on the others",
    references=("NVIDIA/gpu-operator issues 593, 2150",),
)
DRIVER_CONTRADICTION = RuleInfo(
    code="PSM213",
    name="driver-contradiction",
    what="Parts of a pool's driver exclude each other, or the workload, or the release.",
    why="The operator reports an error, or the driver pod never becomes ready.",
    fix="leave out one of the two that exclude each other, as the message says",
    symptom=(
        "`GPUDirect Storage driver (nvidia-fs) and/or GDRCopy driver is not supported along with pre-compiled NVIDIA "
        "drivers` in the operator's log; driver pods that loop on nodes that have a driver"
    ),
    references=(
        "NVIDIA/gpu-operator issues 126, 946",
        "NVIDIA/gpu-operator:controllers/object_controls.go",
    ),
)
KERNEL_MODULE_TYPE = RuleInfo(
    code="PSM214",
    name="kernel-module-type",
    what="The kernel module type does not fit the GPU's architecture.",
    why="Blackwell and Grace Hopper need the open modules; Pascal and Volta have none.",
    fix="write `driver.kernelModuleType`: open for Grace Hopper and Blackwell, proprietary for Pascal and Volta",
    symptom="nvidia-smi in the driver container: No devices were found",
    references=("pull requests siderolabs/talos 9430 and skypilot-org/skypilot 9639",),
)
DRIVER_BRANCH_ENDED = RuleInfo(
    code="PSM215",
    name="driver-branch-ended",
    what="The driver's branch no longer supports the GPU's architecture.",
    why="The modules load and find no device.",
    fix="write a `driver.version` of a branch that still has the GPU, in an NVIDIADriver of the pool's own",
    symptom="the validation of CUDA fails for ever after an upgrade of the operator",
    references=("rwlove/home-ops pull request 13690",),
)
KERNEL_MISSING = RuleInfo(
    code="PSM216",
    name="kernel-missing",
    what="A precompiled driver needs kernel.release, and the pool does not declare it.",
    why="The image's tag holds the kernel; without it nothing can be checked or mirrored.",
    fix="write what `uname -r` prints on the nodes, and keep them at that kernel",
    symptom="ImagePullBackOff of nvidia-driver-daemonset after an unattended update of the kernel",
    references=("NVIDIA/gpu-operator issues 910, 682",),
)
SECURE_BOOT = RuleInfo(
    code="PSM217",
    name="secure-boot",
    severity=Severity.WARNING,
    what="Nodes boot with Secure Boot, and their driver is compiled in a container.",
    why="The kernel rejects modules that nobody signed: `Key was rejected by service` in the driver's log.",
    fix="use a precompiled, signed driver, or pre-install one",
    references=("NVIDIA/gpu-operator issue 1726", "NVIDIA/gpu-driver-container issue 44"),
    symptom="`Key was rejected by service` in the log of the driver container",
)
MIXED_RUNTIMES = RuleInfo(
    code="PSM220",
    name="mixed-runtimes",
    what="Pools of one cluster have different container runtimes, and nobody has taken the risk.",
    why="The operator configures one runtime on all nodes: containerd as soon as one node has it.",
    fix="give all pools one runtime, or acknowledge `mixed-runtimes`: other pools then get a toolkit of their own",
    good="acknowledge: [{fact: mixed-runtimes, by: platform-team, date: 2026-11-20}]\n",
    symptom='`no runtime for "nvidia" is configured` on the nodes of one runtime',
    references=("NVIDIA/gpu-operator issues 477, 620, 1528",),
)
TOOLKIT_CONTRADICTION = RuleInfo(
    code="PSM221",
    name="toolkit-contradiction",
    what="A pool's toolkit source contradicts its operating system, its workload, its runtime or the other pools.",
    why="Two toolkits would write one runtime configuration, or none would.",
    fix="leave `toolkit.source` out: it follows from the system, the workload and the other pools",
    references=("NVIDIA/gpu-operator:controllers/state_manager.go",),
)
RUNTIME_TOO_OLD = RuleInfo(
    code="PSM222",
    name="runtime-too-old",
    what="The declared version of the container runtime lacks what the release needs.",
    why="Containers start without their devices.",
    fix="upgrade the container runtime, or pin an older release",
    symptom="containers of pods that were given a GPU start without it, or do not start",
    references=(
        "NVIDIA/nvidia-container-toolkit, release notes of 1.19.1",
        "NVIDIA/cloud-native-docs:gpu-operator/platform-support.rst",
    ),
)
SANDBOX_ERA = RuleInfo(
    code="PSM230",
    name="sandbox-era",
    what="A release has no known way to run the sandboxed workload that a pool asks for.",
    why="Kata support was delivered in three different ways; where the facts say unknown, so does poolsmith.",
)
SANDBOX_CONTRADICTION = RuleInfo(
    code="PSM231",
    name="sandbox-contradiction",
    what=("A pool's sandboxed workload excludes its runtime, driver, sharing, MIG, GPU or another pool's workload."),
    why="The operator deploys nothing useful on such nodes, or the pods never start.",
)
HOST_FACTS_UNDECLARED = RuleInfo(
    code="PSM232",
    name="host-facts-undeclared",
    severity=Severity.WARNING,
    what="A passthrough pool declares nothing about IOMMU, ACS or the nouveau driver on its hosts.",
    why="No file can prove them, and passthrough fails without them: somebody has to have looked.",
)
AUTO_UPGRADE_OFF = RuleInfo(
    code="PSM233",
    name="auto-upgrade-off",
    severity=Severity.NOTE,
    what=("sandboxWorkloads.enabled turns off the operator's driver upgrades on every node, container pools included."),
    why="A changed driver version waits until somebody deletes the driver pods.",
)
MIG_LAYOUT = RuleInfo(
    code="PSM240",
    name="mig-layout",
    what="A MIG layout is unknown to the release, or the GPU can't be partitioned like that.",
    why="The MIG manager sets the node's state to failed and the GPUs stay unusable.",
)
SHARING_CONTRADICTION = RuleInfo(
    code="PSM241",
    name="sharing-contradiction",
    what="Sharing settings exclude each other or what the pool's GPUs advertise.",
    why="The device plugin exits at start.",
)
LABEL_VALUE_TAKEN = RuleInfo(
    code="PSM250",
    name="label-value-taken",
    what="Two pools of a cluster have the same label value, or claim the same node name.",
    why="Selectors would overlap: two drivers on one node, or none.",
    fix="give each pool a `nodes.labelValue` of its own, and each node one pool",
    symptom="`ConflictingNodeSelector` in the status of NVIDIADriver objects",
    references=("NVIDIA/gpu-operator issue 2282",),
)
SINGLETON_CONFLICT = RuleInfo(
    code="PSM251",
    name="singleton-conflict",
    what="Pools ask for different values of something that a cluster has only once.",
    why="One of them would silently win.",
)
LABEL_WRITER = RuleInfo(
    code="PSM252",
    name="label-writer",
    what="Nothing in the cluster could write a pool's label.",
    why="Without the label no driver, layout or smoke test reaches the pool's nodes.",
)
RESERVED_LABEL = RuleInfo(
    code="PSM253",
    name="reserved-label",
    what="The pool label, or a taint, uses a key that another component owns.",
    why="A label with two writers flips.",
)
STACK_CONTRADICTION = RuleInfo(
    code="PSM254",
    name="stack-contradiction",
    what="A pool asks for something that the cluster's stack does not have.",
    why="Without the operator nothing installs drivers, partitions GPUs or starts sandboxes.",
)
MIRROR_INCOMPLETE = RuleInfo(
    code="PSM255",
    name="mirror-incomplete",
    severity=Severity.WARNING,
    what=("A registry mirror can't be applied to some images, because the catalog does not know their references."),
    why="In an air-gapped cluster these images would not be pulled.",
)
DELIVERY_SOURCE = RuleInfo(
    code="PSM256",
    name="delivery-source",
    what="The GitOps engine can't read a repository from the address that delivery gives.",
    why="Nothing of the cluster would ever be synced.",
    bad="delivery: {engine: flux, repoURL: git@git.example.com:gpu.git}\n",
    good="delivery: {engine: flux, repoURL: git@git.example.com:gpu.git, sourceRef: {name: flux-system}}\n",
)
FIELD_WITHOUT_EFFECT = RuleInfo(
    code="PSM257",
    name="field-without-effect",
    what="A profile sets a field that nothing uses in this combination.",
    why="Somebody meant something by it, and it would silently not happen.",
    bad="delivery: {engine: flux, project: gpu}\n",
    good="delivery: {engine: argocd, project: gpu}\n",
)
OPERATOR_ERROR = RuleInfo(
    code="PSM258",
    name="operator-error",
    what="The chart would render nothing, or the operator would report an error, for what the profiles come to.",
    why="The cluster would stay as it is, or half done, and only the status of a custom resource would tell.",
)
POOL_NOT_SUPPLIED = RuleInfo(
    code="PSM259",
    name="pool-not-supplied",
    what="By what is predicted, a pool gets no driver, toolkit or device plugin, or more than one.",
    why="Profiles say what each pool is to get, and values on top of them take it away or start a second one.",
    fix="remove the value that the message names from `stack.values`; where a pool brings its own part, say so in its "
    "profile: `source: preinstalled`",
    bad="stack: {release: v26.3.3, values: {toolkit: {enabled: false}}}\n",
    good="stack: {release: v26.3.3}\n",
    symptom="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
)

COMPATIBILITY = (
    UNKNOWN_RELEASE,
    UNKNOWN_OPERATING_SYSTEM,
    UNKNOWN_DISTRIBUTION,
    UNKNOWN_GPU,
    UNKNOWN_RUNTIME,
    NOT_GENERATED_YET,
    PATHS_UNKNOWN,
    NO_SUPPORT_ROW,
    DRIVER_DISAGREEMENT,
    DRIVER_VERSION_FORM,
    DRIVER_SOURCE_MISSING,
    DRIVER_CONTRADICTION,
    KERNEL_MODULE_TYPE,
    DRIVER_BRANCH_ENDED,
    KERNEL_MISSING,
    SECURE_BOOT,
    MIXED_RUNTIMES,
    TOOLKIT_CONTRADICTION,
    RUNTIME_TOO_OLD,
    SANDBOX_ERA,
    SANDBOX_CONTRADICTION,
    HOST_FACTS_UNDECLARED,
    AUTO_UPGRADE_OFF,
    MIG_LAYOUT,
    SHARING_CONTRADICTION,
    LABEL_VALUE_TAKEN,
    SINGLETON_CONFLICT,
    LABEL_WRITER,
    RESERVED_LABEL,
    STACK_CONTRADICTION,
    MIRROR_INCOMPLETE,
    DELIVERY_SOURCE,
    FIELD_WITHOUT_EFFECT,
    OPERATOR_ERROR,
    POOL_NOT_SUPPLIED,
)
