"""PSM2xx: what fits together."""

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

UNKNOWN_RELEASE = RuleInfo(
    code="PSM201",
    name="unknown-release",
    what="The catalog does not know the release.",
    why=("Values, image tags and labels differ between releases, so poolsmith can say nothing about an unknown one."),
    fix="write a release that the catalog knows; a newer poolsmith may know the one that you want",
    bad="stack: {release: v26.9.9}\n",
    good="stack: {release: v26.3.3}\n",
    references=("values.yaml of the chart at its tags",),
)
UNKNOWN_OPERATING_SYSTEM = RuleInfo(
    code="PSM202",
    name="unknown-operating-system",
    what="The catalog does not know the operating system or its version.",
    why="The tag of the driver image depends on it. A wrong guess ends in ImagePullBackOff on every node.",
    bad='os: {id: ubunut, version: "22.04"}\n',
    good='os: {id: ubuntu, version: "22.04"}\n',
    fix="correct the id or version, or name your own images with `os.imageTag` and `driver.repository`",
    symptom="ImagePullBackOff of nvidia-driver-daemonset: manifest unknown, with a tag that ends in debian12",
    references=("NVIDIA/gpu-operator issues 1212, 1623, 1533",),
)
UNKNOWN_DISTRIBUTION = RuleInfo(
    code="PSM203",
    name="unknown-distribution",
    what="The catalog does not know the Kubernetes distribution, or the operator is not delivered by Helm there.",
    why="The paths of the container runtime and the way to provision nodes depend on it.",
    fix="leave the cluster out; `poolsmith check PATH` can still check its manifests",
    bad='kubernetes: {version: "1.33", distribution: k3z}\n',
    good='kubernetes: {version: "1.33", distribution: k3s}\n',
    symptom="operator and operands are ready, and CUDA fails in pods: the runtime never read what the toolkit wrote",
    references=("NVIDIA/gpu-operator issues 406, 522", "NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:openshift/"),
)
UNKNOWN_GPU = RuleInfo(
    code="PSM204",
    name="unknown-gpu",
    what="The catalog does not know the GPU product.",
    why="The type of kernel modules, the last driver branch, MIG, and the names of passthrough resources depend on it.",
    fix="write the product as the label `nvidia.com/gpu.product` has it, or declare its generation with "
    "`gpu.architecture`",
    bad="gpu: {product: A101, count: 1}\n",
    good="gpu: {product: NVIDIA-A10, count: 1}\n",
    references=("NVIDIA/cloud-native-docs:gpu-operator/platform-support.rst",),
)
UNKNOWN_RUNTIME = RuleInfo(
    code="PSM205",
    name="unknown-runtime",
    what="A pool names a container runtime that the operator does not recognise.",
    why="The operator would use containerd instead, and configure a runtime that is not there.",
    fix="write a container runtime that the operator recognises: containerd, cri-o or docker",
    bad="runtime: {name: podman}\n",
    good="runtime: {name: containerd}\n",
    references=("NVIDIA/gpu-operator:controllers/state_manager.go", "NVIDIA/gpu-operator issue 290"),
)
PATHS_UNKNOWN = RuleInfo(
    code="PSM207",
    name="paths-unknown",
    what=(
        "The output needs the paths of the container runtime, and the catalog does not know them for this "
        "distribution and release."
    ),
    why="The toolkit would configure files that the runtime does not read.",
    fix="declare `runtime.config` and `runtime.socket` as they are on the nodes",
    bad="runtime: {name: containerd}\n",
    good="runtime: {name: containerd, config: /etc/containerd/config.toml, socket: /run/containerd/containerd.sock}\n",
    symptom="operator and operands are ready, and CUDA fails in pods: the runtime never read what the toolkit wrote",
    references=("NVIDIA/gpu-operator issues 406, 522",),
)
NO_SUPPORT_ROW = RuleInfo(
    code="PSM208",
    name="no-support-row",
    severity=Severity.NOTE,
    to_do=False,
    what="No support matrix has a row for this combination.",
    why="It may well work, but no document says so.",
    fix="nothing to do, if it works for you; else use a combination that the matrix of the release lists",
    references=("NVIDIA/cloud-native-docs:gpu-operator/platform-support.rst",),
)
DRIVER_DISAGREEMENT = RuleInfo(
    code="PSM210",
    name="driver-disagreement",
    what="Pools need different drivers, and with the cluster's driverMode there is only one.",
    why="A ClusterPolicy has one driver version, one source and one operating system tag for all nodes.",
    fix="write `stack.driverMode: nvidia-driver`, and each pool gets a driver of its own",
    symptom="all driver pods restart when a node with another operating system joins, and pull an image for the wrong "
    "system",
    references=(
        "NVIDIA/gpu-operator issues 328, 94, 433, 323",
        "NVIDIA/aicr issue 2516",
    ),
)
DRIVER_VERSION_FORM = RuleInfo(
    code="PSM211",
    name="driver-version-form",
    what="driver.version does not have the form that its source requires.",
    why="The name of a precompiled image has the branch and the kernel; the name of a container image has the full "
    "version.",
    bad="driver: {source: precompiled, version: 535.183.01}\n",
    good='driver: {source: precompiled, version: "535"}\n',
    fix='write a branch for a precompiled driver, such as "580", and a full version for a compiled one',
    symptom="ImagePullBackOff of nvidia-driver-daemonset: manifest unknown",
    references=("NVIDIA/gpu-operator issue 933",),
)
DRIVER_SOURCE_MISSING = RuleInfo(
    code="PSM212",
    name="driver-source-missing",
    what="A pool that runs containers does not say where its driver comes from.",
    why="poolsmith must know first who supplies driver and toolkit; everything else depends on it.",
    bad="driver: {version: 580.126.20}\n",
    good="driver: {source: container, version: 580.126.20}\n",
    fix="write `driver.source`: container, precompiled or preinstalled",
    symptom="driver pods in CrashLoopBackOff on nodes whose image has a driver, and none on the others",
    references=("NVIDIA/gpu-operator issues 593, 2150",),
)
DRIVER_CONTRADICTION = RuleInfo(
    code="PSM213",
    name="driver-contradiction",
    what="A pool's driver has settings that exclude each other, or that the workload or the release excludes.",
    why="The operator reports an error, or the driver pod never becomes ready.",
    bad='driver: {source: precompiled, version: "580", gds: true}\n',
    good='driver: {source: precompiled, version: "580"}\n',
    fix="remove one of the two that exclude each other, as the message says",
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
    what="The GPU's architecture can't use this type of kernel modules.",
    why="Blackwell and Grace Hopper need the open modules; Pascal and Volta have none.",
    bad="gpu: {product: NVIDIA-B200, count: 8}\ndriver: {source: container, kernelModuleType: proprietary}\n",
    good="gpu: {product: NVIDIA-B200, count: 8}\ndriver: {source: container, kernelModuleType: open}\n",
    fix="write `driver.kernelModuleType`: open for Grace Hopper and Blackwell, proprietary for Pascal and Volta",
    symptom="nvidia-smi in the driver container: No devices were found",
    references=("pull requests siderolabs/talos 9430 and skypilot-org/skypilot 9639",),
)
DRIVER_BRANCH_ENDED = RuleInfo(
    code="PSM215",
    name="driver-branch-ended",
    what="The driver's branch no longer supports the GPU's architecture.",
    why="The modules load and find no GPU.",
    fix="write a `driver.version` of a branch that still supports the GPU, in an NVIDIADriver of the pool's own",
    symptom="the CUDA validation fails after an upgrade of the operator, and keeps failing",
    references=("rwlove/home-ops pull request 13690",),
)
KERNEL_MISSING = RuleInfo(
    code="PSM216",
    name="kernel-missing",
    what="A precompiled driver needs kernel.release, and the pool does not declare it.",
    why="The image's tag contains the kernel. Without it, nothing can be checked or mirrored.",
    bad='driver: {source: precompiled, version: "580"}\n',
    good='kernel: {release: 5.15.0-105-generic}\ndriver: {source: precompiled, version: "580"}\n',
    fix="write what `uname -r` prints on the nodes, and keep them at that kernel",
    symptom="ImagePullBackOff of nvidia-driver-daemonset after an unattended update of the kernel",
    references=("NVIDIA/gpu-operator issues 910, 682",),
)
SECURE_BOOT = RuleInfo(
    code="PSM217",
    name="secure-boot",
    severity=Severity.WARNING,
    what="Nodes boot with Secure Boot, and their driver is compiled in a container.",
    why="The kernel rejects modules without a signature: `Key was rejected by service` in the driver's log.",
    fix="use a precompiled, signed driver, or pre-install one",
    references=("NVIDIA/gpu-operator issue 1726", "NVIDIA/gpu-driver-container issue 44"),
    symptom="`Key was rejected by service` in the log of the driver container",
)
MIXED_RUNTIMES = RuleInfo(
    code="PSM220",
    name="mixed-runtimes",
    what="Pools of one cluster have different container runtimes, and nobody has accepted the risk.",
    why="The operator configures one runtime on all nodes: containerd, as soon as one node has it.",
    fix="give all pools one runtime, or acknowledge `mixed-runtimes`: other pools then get a toolkit of their own",
    good="acknowledge: [{fact: mixed-runtimes, by: platform-team, date: 2026-11-20}]\n",
    symptom='`no runtime for "nvidia" is configured` on the nodes of one runtime',
    references=("NVIDIA/gpu-operator issues 477, 620, 1528",),
)
TOOLKIT_CONTRADICTION = RuleInfo(
    code="PSM221",
    name="toolkit-contradiction",
    what="A pool's toolkit source contradicts its operating system, its workload, its runtime or the other pools.",
    why="Two toolkits would write the same runtime configuration, or none would write it.",
    fix="remove `toolkit.source`: it follows from the system, the workload and the other pools",
    symptom='`no runtime for "nvidia" is configured` on nodes that no toolkit has configured',
    references=("NVIDIA/gpu-operator issues 620, 1528", "NVIDIA/gpu-operator:controllers/state_manager.go"),
    bad="workload: kata\ntoolkit: {source: operator}\n",
    good="workload: kata\n",
)
RUNTIME_TOO_OLD = RuleInfo(
    code="PSM222",
    name="runtime-too-old",
    what="The declared version of the container runtime lacks what the release needs.",
    why="Containers start without their devices.",
    fix="upgrade the container runtime",
    symptom="pods that got a GPU start containers without it, or do not start",
    references=(
        "NVIDIA/nvidia-container-toolkit, release notes of 1.19.1",
        "NVIDIA/cloud-native-docs:gpu-operator/platform-support.rst",
    ),
)
LABEL_VALUE_TAKEN = RuleInfo(
    code="PSM250",
    name="label-value-taken",
    what="Two pools of a cluster have the same label value, or list the same node name.",
    why="Selectors would overlap: a node would get two drivers, or none.",
    bad="# one pool\nnodes: {labelValue: a100}\n---\n# another\nnodes: {labelValue: a100}\n",
    good="# one pool\nnodes: {labelValue: a100}\n---\n# another\nnodes: {labelValue: a100-mig}\n",
    fix="give each pool its own `nodes.labelValue`, and put each node into one pool",
    symptom="`ConflictingNodeSelector` in the status of NVIDIADriver objects",
    references=("NVIDIA/gpu-operator issue 2282",),
)
SINGLETON_CONFLICT = RuleInfo(
    code="PSM251",
    name="singleton-conflict",
    what="Pools ask for different values of something that a cluster has only once.",
    why="One of the values would silently win.",
    fix="give the pools one value, for example in a base, or move one of them to a cluster of its own",
    bad=(
        "# one pool\ndriver: {source: preinstalled, installDir: /opt/nvidia}\n"
        "---\n# another\ndriver: {source: preinstalled}\n"
    ),
    good="# in a base of both pools\ndriver: {source: preinstalled, installDir: /opt/nvidia}\n",
    references=("NVIDIA/gpu-operator:controllers/clusterpolicy_controller.go",),
)
LABEL_WRITER = RuleInfo(
    code="PSM252",
    name="label-writer",
    what="Nothing in the cluster can write a pool's label.",
    why="Without the label no driver, layout or smoke test reaches the pool's nodes.",
    fix="let whoever creates the nodes set the pool label, or declare the cluster's NFD: `nfd: {provider: external}`",
    bad="# cluster.yaml\nstack: {kind: device-plugin, release: v0.17.1}\n# the pool\nnodes: {names: [gpu-1]}\n",
    good=(
        "# cluster.yaml\nstack: {kind: device-plugin, release: v0.17.1}\nnfd: {provider: external}\n"
        "# the pool\nnodes: {names: [gpu-1]}\n"
    ),
    references=("kubernetes-sigs/node-feature-discovery@v0.19.0:docs/usage/customization-guide.md",),
)
RESERVED_LABEL = RuleInfo(
    code="PSM253",
    name="reserved-label",
    what="The key of the pool label, or of a taint, belongs to another component.",
    why="If two components write a label, it changes back and forth.",
    fix="use a key with your own prefix, such as example.com/gpu-pool",
    bad="poolLabel: nvidia.com/gpu.product\n",
    good="poolLabel: example.com/gpu-pool\n",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:controllers/state_manager.go",
        "kubernetes-sigs/node-feature-discovery@v0.19.0:pkg/apis/nfd/validate",
    ),
)
STACK_CONTRADICTION = RuleInfo(
    code="PSM254",
    name="stack-contradiction",
    what="A pool asks for something that the cluster's stack does not have, or its operating system has another stack: "
    "Talos up to 1.12 the device plugin alone, from 1.13 on the operator of v26.3.1 or later.",
    why="Without the operator nothing installs drivers, partitions GPUs or starts sandboxes. An operator that does not "
    "know the system's folders waits for a driver that it can't find.",
    fix="remove what the stack does not have, or write `stack: {kind: operator}`; for Talos, the stack of its guide",
    bad="# a pool of `stack: {kind: device-plugin}`\ndriver: {source: container}\n",
    good="# a pool of `stack: {kind: device-plugin}`\ndriver: {source: preinstalled}\n",
    references=(
        "NVIDIA/k8s-device-plugin:README.md",
        "siderolabs/docs@5debdd9:public/talos/v1.13/configure-your-talos-cluster/hardware-and-drivers/nvidia-gpu.mdx",
    ),
)
MIRROR_INCOMPLETE = RuleInfo(
    code="PSM255",
    name="mirror-incomplete",
    severity=Severity.WARNING,
    what=("A registry mirror can't be applied to some images, because the catalog does not know their references."),
    why="In an air-gapped cluster, these images can't be pulled.",
    fix=(
        "set the images' repository in `stack.values`, mirror the repository that names them, or configure the "
        "mirror in the nodes' runtime"
    ),
    symptom="ImagePullBackOff in an air-gapped cluster, for an image of a public registry",
    references=("NVIDIA/gpu-operator issues 86, 91, 299",),
)
DELIVERY_SOURCE = RuleInfo(
    code="PSM256",
    name="delivery-source",
    what="The GitOps engine can't read a repository from the address in `delivery`.",
    why="Nothing of the cluster would ever be synced.",
    bad="delivery: {engine: flux, repoURL: git@git.example.com:gpu.git}\n",
    good="delivery: {engine: flux, repoURL: git@git.example.com:gpu.git, sourceRef: {name: flux-system}}\n",
    fix="name a source of the cluster in `delivery.sourceRef`, or write an https:// address",
)
SOURCE_VERIFICATION = RuleInfo(
    code="PSM209",
    name="source-verification",
    what="`delivery.verify` demands signatures that the generated Flux source could not check, or that anybody could "
    "give.",
    why="Flux would refuse the source and sync nothing; or it would take whatever anybody signed, and look verified.",
    bad="verify: {provider: cosign}   # signed by whom?\n",
    good="verify: {provider: cosign, secret: release-keys}\n",
)
FIELD_WITHOUT_EFFECT = RuleInfo(
    code="PSM257",
    name="field-without-effect",
    what="A profile sets a field that nothing uses in this combination.",
    why="Somebody wanted something by it, and it would silently not happen.",
    bad="delivery: {engine: flux, project: gpu}\n",
    good="delivery: {engine: argocd, project: gpu}\n",
    fix="remove the field, or write it where it has an effect",
    at_key=True,
)
OPERATOR_ERROR = RuleInfo(
    code="PSM258",
    name="operator-error",
    what="For what the profiles produce, the chart would fail to render, or the operator would report an error.",
    why="The cluster would not change, or only in part, and only the status of a custom resource would show it.",
    fix="change what the message names, in `stack.values` or in the pools",
    bad="stack: {release: v26.3.3, values: {cdi: {enabled: false, nriPluginEnabled: true}}}\n",
    good="stack: {release: v26.3.3, values: {cdi: {nriPluginEnabled: true}}}\n",
    symptom="`helm template` fails, or the status of the ClusterPolicy or of an NVIDIADriver stays notReady",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:deployments/gpu-operator/templates/validations.yaml",
        "NVIDIA/gpu-operator@v26.7.0:controllers/object_controls.go",
    ),
)
POOL_NOT_SUPPLIED = RuleInfo(
    code="PSM259",
    name="pool-not-supplied",
    what="By the prediction, a pool gets no driver, toolkit or device plugin, or more than one.",
    why="Profiles say what each pool gets, and extra Helm values remove it or start a second one.",
    fix="remove the value that the message names from `stack.values`; if a pool has its own part, say so in its "
    "profile: `source: preinstalled`",
    bad="stack: {release: v26.3.3, values: {toolkit: {enabled: false}}}\n",
    good="stack: {release: v26.3.3}\n",
    symptom="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
    references=("NVIDIA/gpu-operator:controllers/state_manager.go",),
)
