"""PSM223 to PSM229: container runtimes and what configures them."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

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
    what="The toolkit's image can't read the configuration of a pool's container runtime.",
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

RUNTIME = (RUNTIMES_EXCLUDE, CONFIG_VERSION, TOOLKIT_TOO_OLD, FOREIGN_RUNTIME, RUNTIME_PATH, NRI_MISSING)
