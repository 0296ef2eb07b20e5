"""PSM218, PSM219, PSM234 to PSM239: where a pool's driver comes from, and whether it is there."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

UNKNOWN_DRIVER_IMAGE = RuleInfo(
    code="PSM218",
    name="unknown-driver-image",
    severity=Severity.WARNING,
    what="The nodes will pull a driver image that is not in the project's list of known images. Where the list has the "
    "repository that is an error; of other repositories nothing is known.",
    why=("The tag follows from driver, system and kernel. That a node needs an image does not mean that it exists."),
    symptom="ImagePullBackOff of nvidia-driver-daemonset after an update of kernel or system: manifest unknown",
    fix="mirror the image, then list the registry's tags anew with `poolsmith images --import`, or keep the kernel "
    "that has one",
    references=("NVIDIA/gpu-operator issue 910", "NVIDIA/gpu-operator issue 682", "NVIDIA/gpu-operator issue 1203"),
)
DRIVER_IMAGE_NOT_LISTED = RuleInfo(
    code="PSM219",
    name="driver-image-not-listed",
    severity=Severity.WARNING,
    what="No source lists an NVIDIA driver image for this system, kernel, branch or processor.",
    why="Precompiled images exist only for some kernels and branches, and compiled ones only for some systems.",
    symptom="ImagePullBackOff of nvidia-driver-daemonset: manifest unknown",
    bad='kernel: {release: 6.5.0-45-generic}\ndriver: {source: precompiled, version: "580"}\n',
    good="kernel: {release: 6.5.0-45-generic}\ndriver: {source: container}\n",
    references=("NVIDIA/gpu-operator issue 1203", "NVIDIA/gpu-operator issue 933", "NVIDIA/gpu-operator issue 1212"),
    fix="use a kernel or branch that is listed, compile the driver on the node, or name your own `driver.repository`",
)
VGPU_GUEST = RuleInfo(
    code="PSM234",
    name="vgpu-guest",
    what="A vGPU guest lacks the image or the licence of its driver, or asks for something that guests don't have.",
    why=("The guest driver may not be passed on, so there is no public image of it, and each guest needs a licence."),
    bad="driver: {source: container, vgpu: {licensingSecret: licensing-config}}\n",
    good=(
        "driver:\n  source: container\n  repository: registry.example.com/gpu\n  version: 550.90.07-grid\n"
        "  vgpu: {licensingSecret: licensing-config}\n"
    ),
    symptom="ImagePullBackOff of nvidia-vgpu-driver, or FailedMount of its volume licensing-config",
    references=("NVIDIA/cloud-native-docs gpu-operator/install-gpu-operator-vgpu.rst",),
    fix="name your own repository and tag, and the Secret or ConfigMap with the licence",
)
UPGRADE_POLICY_UNSTATED = RuleInfo(
    code="PSM235",
    name="upgrade-policy-unstated",
    severity=Severity.NOTE,
    what="Pools whose driver the operator replaces don't say how.",
    why=(
        "By default, a changed driver is rolled out at once, node after node, and the pods that use GPUs are "
        "deleted. Each environment must decide that."
    ),
    fix="write `driver.upgradePolicy`, for example in a base; `{}` chooses the defaults on purpose",
    bad="driver: {source: container}\n",
    good="driver: {source: container, upgradePolicy: {autoUpgrade: false}}\n",
    symptom="pods that use GPUs are deleted, node after node, as soon as a changed driver version is synced",
    references=("NVIDIA/gpu-operator issues 901, 2509",),
)
FORCED_DRAIN = RuleInfo(
    code="PSM236",
    name="forced-drain",
    severity=Severity.WARNING,
    what="Before a driver is replaced, the node is drained of pods that nothing recreates, or of pods with local data.",
    why="`force` deletes pods without a controller. `deleteEmptyDir` deletes what pods keep in emptyDir volumes.",
    bad="driver: {source: container, upgradePolicy: {drain: {enable: true, force: true}}}\n",
    good="driver: {source: container, upgradePolicy: {drain: {enable: true, podSelector: app=batch}}}\n",
    fix="remove `force` and `deleteEmptyDir`, or choose the pods with `podSelector`",
    symptom="pods without a controller, or their data in an emptyDir, are gone after a driver upgrade",
    references=("NVIDIA/cloud-native-docs:gpu-operator/gpu-driver-upgrades.rst",),
)
DRIVER_VERSION_UNSTATED = RuleInfo(
    code="PSM237",
    name="driver-version-unstated",
    severity=Severity.NOTE,
    what="The driver's version follows the chart's default.",
    why="The next release of the operator replaces the driver on every node, and another branch may support other "
    "GPUs.",
    fix="write `driver.version`",
    bad="driver: {source: container}\n",
    good="driver: {source: container, version: 580.126.20}\n",
    references=("NVIDIA/aicr 965", "OCP-on-NERC/nerc-ocp-config pull request 871"),
    symptom="the driver is loaded again on every node after an update of the operator",
)
DRIVER_FOLDER = RuleInfo(
    code="PSM238",
    name="driver-folder",
    what="The operating system contains the driver, and its folder is not declared, or is not where the system has it.",
    why="The operator's validator looks in that folder, and everything else waits for the validator.",
    symptom=(
        "nvidia-operator-validator stays in Init; driver-validation says that the command failed and that it "
        "retries after 5 seconds, but nvidia-smi works on the host"
    ),
    bad='os: {id: cos, version: "121"}\ndriver: {source: preinstalled, installDir: /usr/local/nvidia}\n',
    good='os: {id: cos, version: "121"}\ndriver: {source: preinstalled}\n',
    references=(
        "NVIDIA/gpu-operator issue 1292",
        "NVIDIA/gpu-operator issue 1687",
        "siderolabs/extensions issue 527",
    ),
    fix="write `driver.installDir`: the folder of the driver on these nodes",
)
DRIVER_TOO_OLD = RuleInfo(
    code="PSM239",
    name="driver-too-old",
    what="The driver is older than the GPU, MIG on it, the device plugin, or a module beside the driver needs. As a "
    "warning: sources disagree whether it has MIG on the GPU.",
    why="The modules load and find no GPU, or they are of another type than you asked for.",
    symptom="nvidia-smi in the driver container: No devices were found",
    bad="gpu: {product: NVIDIA-B200, count: 8}\ndriver: {source: container, version: 550.163.01}\n",
    good="gpu: {product: NVIDIA-B200, count: 8}\ndriver: {source: container, version: 570.133.20}\n",
    fix="write a `driver.version` that is at least the named one",
    references=("docs.nvidia.com MIG user guide; NVIDIA/cloud-native-docs:gpu-operator/platform-support.rst",),
)

PACKAGE_SOURCE_UNSTATED = RuleInfo(
    code="PSM242",
    name="package-source-unstated",
    severity=Severity.WARNING,
    what="A driver is compiled on the nodes of a cluster with registry mirrors, and nothing says where its packages "
    "come from.",
    why=(
        "The driver container fetches headers and modules of the node's kernel from the system's package repositories. "
        "Mirrors of images do not help it: without the internet the build fails, on every node."
    ),
    symptom="nvidia-driver-ctr restarts: it can't install the kernel's headers, or reach the package repositories",
    fix="name your repositories in `driver.repoConfig`, take a precompiled driver, or acknowledge that the nodes reach "
    "the packages: `acknowledge: [{fact: package-source, ...}]`",
    bad="registry: {mirrors: {nvcr.io: registry.example.com/nvcr}}   # and the pool: driver: {source: container}\n",
    good="driver: {source: container, repoConfig: {name: apt-sources, files: [mirror.list]}}\n",
    references=("NVIDIA/gpu-operator issue 299",),
)
DRIVER = (
    UNKNOWN_DRIVER_IMAGE,
    DRIVER_IMAGE_NOT_LISTED,
    VGPU_GUEST,
    UPGRADE_POLICY_UNSTATED,
    FORCED_DRAIN,
    DRIVER_VERSION_UNSTATED,
    DRIVER_FOLDER,
    DRIVER_TOO_OLD,
    PACKAGE_SOURCE_UNSTATED,
)
