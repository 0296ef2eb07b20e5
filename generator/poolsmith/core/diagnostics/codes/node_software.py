"""A pool's driver, its container runtime, and its taints.

PSM218, PSM219, PSM234 to PSM239: where the driver comes from, and whether it is there. PSM223 to PSM229: container
runtimes and what configures them. PSM243 to PSM249: taints, and pools whose nodes come and go.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNKNOWN_DRIVER_IMAGE = RuleInfo(
    code="PSM218",
    name="unknown-driver-image",
    severity=Severity.WARNING,
    what="The nodes will pull a driver image that is not in the project's list of known images. Where the list has the "
    "repository that is an error; of other repositories nothing is known.",
    why=("The tag follows from driver, system and kernel. That a node needs an image does not mean that it exists."),
    symptom="ImagePullBackOff of nvidia-driver-daemonset after an update of kernel or system: manifest unknown",
    fix="mirror the image, then list the registry's tags again with `poolsmith images --import`, or keep the kernel "
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


RUNTIMES_EXCLUDE = RuleInfo(
    code="PSM223",
    name="runtimes-exclude",
    what="Pools of one cluster have container runtimes that can't work in the same cluster.",
    why=(
        "With docker and cri-o but no containerd, the operator uses the runtime of the node that happens to be "
        "listed last. Docker beside containerd works only if devices are injected without CDI."
    ),
    fix="give the pools one runtime, or put them into different clusters",
    symptom="`CrashLoopBackOff` of every GPU pod on docker nodes, as soon as one node of the cluster runs containerd",
    references=("NVIDIA/gpu-operator issues 620, 1528", "NVIDIA/gpu-operator:controllers/state_manager.go"),
)
CONFIG_VERSION = RuleInfo(
    code="PSM224",
    name="containerd-config-version",
    severity=Severity.NOTE,
    what="The version of containerd's configuration file is not declared, and it decides whether containerd starts.",
    why=(
        "The toolkit asks `containerd config dump`, which answers with the newest version that containerd knows, "
        "and writes a drop-in file of that version. containerd refuses a drop-in file that is newer than its own "
        "configuration file."
    ),
    fix="declare `runtime.configVersion`; the toolkit then reads the file itself",
    bad='runtime: {name: containerd, version: "2.1"}\n',
    good='runtime: {name: containerd, version: "2.1", configVersion: 2}\n',
    releases="from v25.10.1",
    symptom="`drop-in config version 4 higher than root config version 2` in containerd's log; nodes become NotReady",
    references=("NVIDIA/aicr issue 1688", "azimuth-cloud/capi-helm-charts pull request 838"),
)
TOOLKIT_TOO_OLD = RuleInfo(
    code="PSM225",
    name="toolkit-too-old",
    what="The toolkit's image can't read the configuration of a pool's container runtime, or what the nodes have is "
    "older than the device plugin needs.",
    why="The toolkit stops before it configures anything, and every pod that needs a GPU waits for it.",
    fix="leave `toolkit.version` to the chart, or pin a newer version",
    bad="stack: {values: {toolkit: {version: v1.14.6-centos7}}}   # pools run containerd 2.1\n",
    good="stack: {release: v26.3.3}   # brings toolkit 1.19.1\n",
    symptom="`unable to load config: unsupported config version: 3` in the log of nvidia-container-toolkit-daemonset",
    references=("NVIDIA/gpu-operator issue 2060", "NVIDIA/nvidia-container-toolkit@v1.17.4:CHANGELOG.md"),
)
FOREIGN_RUNTIME = RuleInfo(
    code="PSM226",
    name="foreign-runtime",
    severity=Severity.WARNING,
    what="What the operator deploys on a pool is made for another container runtime.",
    why="The operator knows one runtime for the whole cluster, and uses it for more than the toolkit.",
    fix="check what the message names before you run workloads on the pool",
    symptom='`no runtime for "nvidia" is configured`, or `FailedMount` of /etc/pki/entitlement',
    references=("NVIDIA/gpu-operator:controllers/object_controls.go", "Mirantis/cri-dockerd pull request 350"),
)
RUNTIME_PATH = RuleInfo(
    code="PSM227",
    name="runtime-path",
    what="A path of the container runtime in a profile can't be right, or one of two paths is missing.",
    why="The toolkit would write a file that the runtime never reads, or damage the file from which it is made.",
    fix="remove the path, so that the distribution's own is used; or give all paths that belong together",
    bad="runtime: {name: containerd, config: /var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl}\n",
    good="runtime: {name: containerd}\n",
    symptom='the node does not come back after a reboot; `no runtime for "nvidia" is configured` in the pods\' events',
    references=("NVIDIA/gpu-operator issues 406, 522, 992", "rancher/rke2 issue 3385"),
)
NRI_MISSING = RuleInfo(
    code="PSM228",
    name="nri-missing",
    what="Devices are injected through NRI, and a pool's container runtime does not offer NRI.",
    why="The toolkit waits for a socket that does not exist, and there is no runtime class to use instead.",
    fix="upgrade the runtime, or leave `cdi.nriPluginEnabled` off",
    releases="from v26.3.3",
    symptom='pods stay Pending: `RuntimeClass "nvidia" not found`',
    references=("NVIDIA/cloud-native-docs:gpu-operator/cdi.rst", "LMCache/LMCache pull request 5057"),
)


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
    what="The nodes of a pool have a label that keeps an operand off them, and only the provisioner writes it. A "
    "warning where the operand is the operator's toolkit, and the nodes have another container runtime than "
    "it is set up for.",
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
