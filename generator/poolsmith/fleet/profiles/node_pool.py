"""Kinds NodePool and NodePoolBase: what the nodes of one pool are, and which tool makes them.

A profile says what a pool is; what follows from that is derived, never repeated.
"""

from __future__ import annotations

from enum import StrEnum

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import (
    ABSOLUTE_PATH,
    BASE_NAME,
    BASE_NAME_FORM,
    DNS_LABEL,
    FULL_LABEL_VALUE,
    IMAGE,
    LABEL_VALUE,
    OBJECT_NAME,
    QUALIFIED_NAME,
    TEXT,
    TOKEN,
    Metadata,
    spec,
)
from poolsmith.fleet.profiles import known_words
from poolsmith.fleet.profiles.cluster import Acknowledgement  # noqa: TC001 - `load` resolves the hints at run time
from poolsmith.fleet.profiles.driver import Driver
from poolsmith.fleet.profiles.gpu import Gpu, Sharing

_KUBECTL_TAINT = pattern(r"([^=:]+)(?:=([^:]*))?:([A-Za-z]+)")


class NodeTool(StrEnum):
    KARPENTER = "karpenter"
    CLUSTER_API = "cluster-api"
    TALOS = "talos"
    EKS = "eks"
    GKE = "gke"
    AKS = "aks"


@record
class ProvisionedBy:
    """The tool that makes the nodes, and what its description of them is called."""

    tool: NodeTool = spec("The tool. `eks`, `gke` and `aks`: the cloud's own node groups, of Terraform for example.")
    name: str | None = spec(
        "Name of the tool's object: NodePool, MachineDeployment, MachinePool, node group. Default: the pool's name.",
        default=None,
        pattern=OBJECT_NAME,
        form="an object's name",
    )
    template: str | None = spec(
        "Cluster API: name of the bootstrap template, such as a KubeadmConfigTemplate. Default: `name`.",
        default=None,
        pattern=OBJECT_NAME,
        form="an object's name",
    )


class TaintEffect(StrEnum):
    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Arch(StrEnum):
    AMD64 = "amd64"
    ARM64 = "arm64"


class ToolkitSource(StrEnum):
    AUTO = "auto"
    OPERATOR = "operator"
    OVERLAY = "overlay"
    PREINSTALLED = "preinstalled"


class Workload(StrEnum):
    CONTAINER = "container"
    VM_PASSTHROUGH = "vm-passthrough"
    VM_VGPU = "vm-vgpu"
    KATA = "kata"
    KATA_CONFIDENTIAL = "kata-confidential"


KATA_WORKLOADS = (Workload.KATA, Workload.KATA_CONFIDENTIAL)


class Tee(StrEnum):
    SNP = "snp"
    TDX = "tdx"


class CcMode(StrEnum):
    ON = "on"
    OFF = "off"
    DEVTOOLS = "devtools"
    PPCIE = "ppcie"


class Nic(StrEnum):
    NONE = "none"
    MELLANOX = "mellanox"


@record
class Taint:
    """A taint that the pool's nodes carry."""

    key: str = spec("Taint key.", pattern=QUALIFIED_NAME, form="a label key", examples=("nvidia.com/gpu",))
    value: str = spec("Taint value.", default="", pattern=LABEL_VALUE, form="a label value")
    effect: TaintEffect = spec("Taint effect.")

    @staticmethod
    def meant_by(value: object) -> dict[str, str] | None:
        """`key=value:Effect`, as kubectl takes it."""
        match = _KUBECTL_TAINT.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return None
        return {"key": match[1], **({"value": match[2]} if match[2] else {}), "effect": match[3]}

    @property
    def body(self) -> dict[str, str]:
        """As a node has it."""
        value = {"value": self.value} if self.value else {}
        return {"key": self.key, **value, "effect": self.effect.value}


@record
class Nodes:
    """Which nodes the pool has."""

    label_value: str | None = spec(
        "Value of the cluster's poolLabel on these nodes. Default: objectName, or metadata.name.",
        default=None,
        pattern=FULL_LABEL_VALUE,
        form="a label value",
    )
    names: tuple[str, ...] = spec(
        "Bare metal only: literal node names, or prefix[from-to]; a NodeFeatureRule then writes the pool label.",
        default=(),
        pattern=(
            r"[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?"
            r"|[a-z0-9][a-z0-9.-]{0,200}\[\d{1,6}-\d{1,6}\][a-z0-9.-]{0,50}"
        ),
        form="a node name, or a range like gpu-a[001-016]",
        examples=(["gpu-a[001-016]"],),
        unique=True,
    )
    taints: tuple[Taint, ...] = spec("Permanent taints of the nodes.", default=())
    startup_taints: tuple[Taint, ...] = spec(
        "Taints of new nodes that you remove when their GPUs can be used. What prepares the nodes tolerates them; "
        "workloads must not.",
        default=(),
        examples=([{"key": "readiness.k8s.io/nvidia-gpu-not-ready", "effect": "NoSchedule"}],),
    )
    autoscaled: bool = spec("Whether an autoscaler adds and removes the nodes.", default=False)
    count: int | None = spec("How many nodes; for reports only.", default=None, minimum=0, maximum=1_000_000)
    roll_minutes: int | None = spec(
        "How many minutes a node takes until it has another driver, as you measured it; for reports only.",
        default=None,
        minimum=1,
        maximum=10_080,
    )
    provisioned_by: ProvisionedBy | None = spec(
        "What makes the nodes. With it `provisioners/` of the cluster's output has patches for that tool, and a node "
        "template of that name is held against this profile.",
        default=None,
        examples=({"tool": "karpenter", "name": "gpu-l4"},),
    )


@record
class OperatingSystem:
    """The nodes' operating system, as /etc/os-release names it."""

    id: str = spec(
        "ID of /etc/os-release.",
        pattern=TOKEN,
        form="an ID like ubuntu",
        examples=("ubuntu",),
        known=known_words.systems,
    )
    version: str = spec(
        "VERSION_ID of /etc/os-release.",
        pattern=TOKEN,
        form='a version like "22.04"',
        examples=("22.04",),
        known=known_words.system_versions,
    )
    versions: tuple[str, ...] = spec(
        "VERSION_IDs in the place of `version`, while nodes are on their way from one to the other: the old one first.",
        default=(),
        pattern=TOKEN,
        form='a version like "22.04"',
        examples=(["9.4", "9.5"],),
        unique=True,
        several_of="version",
    )
    image_tag: str | None = spec(
        "Declares an operating system that the catalog does not know: the suffix of the driver image's tag, which the "
        "operator builds from the node's ID and VERSION_ID.",
        default=None,
        pattern=r"[a-z][a-z0-9.]{0,40}",
        form="a suffix like ubuntu22.04",
        examples=("ubuntu22.04",),
    )


@record
class Kernel:
    """The nodes' kernel."""

    release: str | None = spec(
        "Output of `uname -r`.",
        default=None,
        pattern=TOKEN,
        form="a kernel release",
        examples=("5.15.0-105-generic",),
    )
    releases: tuple[str, ...] = spec(
        "Kernel releases in the place of `release`, while nodes are on their way from one to the other: the old one "
        "first. With as many `os.versions`, each belongs to the version at the same place.",
        default=(),
        pattern=TOKEN,
        form="a kernel release",
        examples=(["5.15.0-105-generic", "5.15.0-107-generic"],),
        unique=True,
        several_of="release",
    )
    args: tuple[str, ...] = spec(
        "Kernel command line arguments that matter here.",
        default=(),
        pattern=r"[!-~]{1,200}",
        form="one argument without blanks",
        examples=(["intel_iommu=on"],),
        unique=True,
    )


@record(kw_only=False)
class NodeSystem:
    """One of the systems that nodes of a pool run: a version of the operating system and a kernel, and where the
    profile says so."""

    version: str
    kernel: str | None
    version_pointer: str
    kernel_pointer: str


@record
class Runtime:
    """The nodes' container runtime. Paths follow from the distribution, or are given here."""

    name: str = spec(
        "containerd, docker or cri-o.",
        pattern=DNS_LABEL,
        form="a name like containerd",
        examples=("containerd",),
        known=known_words.runtimes,
    )
    version: str | None = spec(
        "Version of the runtime.", default=None, pattern=r"\d+(\.\d+){0,3}", form='a version like "1.7"'
    )
    config: str | None = spec(
        "Path of the runtime's configuration file on the host.",
        default=None,
        pattern=ABSOLUTE_PATH,
        form="an absolute path without `..`",
    )
    config_version: int | None = spec(
        "The `version` in containerd's configuration file. If it is lower than the newest version that "
        "containerd knows, the toolkit is configured to read the file, from v25.10.1 on.",
        default=None,
        minimum=1,
        maximum=9,
        examples=(2,),
    )
    drop_in: str | None = spec(
        "Path of the drop-in file that the toolkit may write.",
        default=None,
        pattern=ABSOLUTE_PATH,
        form="an absolute path without `..`",
    )
    socket: str | None = spec(
        "Path of the runtime's socket on the host.",
        default=None,
        pattern=ABSOLUTE_PATH,
        form="an absolute path without `..`",
    )


@record
class Toolkit:
    """The pool's one source of the NVIDIA Container Toolkit."""

    source: ToolkitSource = spec(
        "`auto`: derived from operating system and workload. A choice that contradicts them is an error.",
        default=ToolkitSource.AUTO,
    )
    version: str | None = spec(
        "Version of a pre-installed toolkit.",
        default=None,
        pattern=r"\d+(\.\d+){1,2}(-\d+)?",
        form="a version",
    )


@record
class Sandbox:
    """Details of sandboxed workloads."""

    runtime_class: str | None = spec(
        "RuntimeClass of sandboxed pods. Default: kata-qemu-nvidia-gpu, followed by the TEE of confidential pools.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
    )
    artifacts: str | None = spec(
        "Image with the guest's kernel and driver, up to v25.3. Default: the release's.",
        default=None,
        pattern=IMAGE,
        form="an image reference",
    )
    release: str | None = spec(
        "Version of kata-deploy, one for all Kata pools of a cluster. Default: the one that goes with the release.",
        default=None,
        pattern=r"\d{1,4}(\.\d{1,4}){2}",
        form="a version like 4.1.0",
        examples=("4.1.0",),
    )
    tee: Tee | None = spec("Trusted execution environment of confidential pools.", default=None)
    cc_mode: CcMode | None = spec(
        "Confidential computing mode of the GPUs. `ppcie`: all Hopper GPUs of a node in one pod, with their switches. "
        "Default: on for confidential pools, else off.",
        default=None,
    )
    gpus_per_pod: int = spec("GPUs that one sandboxed pod asks for.", default=1, minimum=1, maximum=64, examples=(8,))
    default_memory: int | None = spec(
        "Memory of a sandbox, in MiB. Default: 16 GiB for each of its GPUs, as in the vendor's samples.",
        default=None,
        minimum=512,
        maximum=4_194_304,
        examples=(16384,),
    )
    resource_alias: str | None = spec(
        "Name below nvidia.com/ under which GPUs of all Kata pools are advertised; empty for the names of models. "
        "Default: pgpu, where the release has it.",
        default=None,
        pattern=rf"({DNS_LABEL})?",
        form="a name, or nothing",
        examples=("pgpu",),
    )

    @property
    def memory(self) -> int:
        """In MiB. Source: cloud-native-docs, confidential-containers/configure-workloads.rst (one GPU, eight GPUs)."""
        return self.default_memory if self.default_memory is not None else 16_384 * self.gpus_per_pod


@record
class PoolSpec:
    """What the nodes of a pool are."""

    extends: tuple[str, ...] = spec(
        "NodePoolBases to build on, left to right; this spec comes last. Maps merge, lists replace, null deletes.",
        default=(),
        pattern=BASE_NAME,
        form=BASE_NAME_FORM,
        unique=True,
    )
    object_name: str | None = spec(
        "Name that the pool has in the cluster: of its objects, and in values of its node labels. Default: "
        "metadata.name. A pool that is renamed keeps its old name here, and with it its nodes and its driver.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
    )
    nodes: Nodes = spec("Which nodes.", default=Nodes())
    os: OperatingSystem = spec("Operating system.")
    kernel: Kernel = spec("Kernel.", default=Kernel())
    arch: Arch = spec("Processor architecture.", default=Arch.AMD64)
    runtime: Runtime = spec("Container runtime.")
    gpu: Gpu = spec("GPUs.")
    sharing: Sharing = spec("Sharing of GPUs.", default=Sharing())
    driver: Driver = spec("Driver.", default=Driver())
    toolkit: Toolkit = spec("Container toolkit.", default=Toolkit())
    workload: Workload = spec("What runs on the GPUs.", default=Workload.CONTAINER)
    sandbox: Sandbox = spec("Details of sandboxed workloads.", default=Sandbox())
    nic: Nic = spec("Network adapters that the driver works with.", default=Nic.NONE)
    secure_boot: bool = spec("Whether the nodes boot with Secure Boot.", default=False)
    acknowledge: tuple[Acknowledgement, ...] = spec("Facts about the hosts that no file shows.", default=())
    owner: str | None = spec(
        "Who answers for these nodes; for the inventory. Default: the cluster's owner.",
        default=None,
        pattern=TEXT,
        form="one line of text",
    )

    @property
    def systems(self) -> tuple[NodeSystem, ...]:
        """All that nodes of the pool may run at a time, the old ones first; one, unless nodes are being rolled.

        Lists of the same length belong together by their places; beside a list, one value goes with each of it.
        """
        versions = [(item, f"/spec/os/versions/{index}") for index, item in enumerate(self.os.versions)]
        kernels: list[tuple[str | None, str]] = [
            (item, f"/spec/kernel/releases/{index}") for index, item in enumerate(self.kernel.releases)
        ]
        versions = versions or [(self.os.version, "/spec/os/version")]
        kernels = kernels or [(self.kernel.release, "/spec/kernel/release")]
        if len(versions) == 1:
            versions *= len(kernels)
        if len(kernels) == 1:
            kernels *= len(versions)
        return tuple(
            NodeSystem(version, kernel, at, where)
            for (version, at), (kernel, where) in zip(versions, kernels, strict=False)  # a pass refuses other lengths
        )

    @property
    def system_words(self) -> str:
        """`ubuntu 22.04`, `rhel 9.4, 9.5`."""
        return f"{self.os.id} {', '.join(dict.fromkeys(item.version for item in self.systems))}"

    @property
    def kernel_words(self) -> str:
        """The kernels, empty where none is declared."""
        return ", ".join(dict.fromkeys(item.kernel for item in self.systems if item.kernel))


@record
class NodePool:
    """A pool's profile."""

    metadata: Metadata
    spec: PoolSpec
    path: str

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def object_name(self) -> str:
        """What it is called in the cluster."""
        return self.spec.object_name or self.metadata.name

    @property
    def label_value(self) -> str:
        return self.spec.nodes.label_value or self.object_name
