"""Kind Cluster: what all pools of one cluster share, and how and where the cluster is delivered."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from poolsmith.core.record import record
from poolsmith.core.shape.field import (
    DNS_LABEL,
    OBJECT_NAME,
    PREFIXED_NAME,
    REGISTRY,
    RELATIVE_PATH,
    TEXT,
    TOKEN,
    Metadata,
    spec,
)
from poolsmith.fleet.profiles import known_words
from poolsmith.fleet.profiles.acknowledged_facts import PATTERN as FACT
from poolsmith.kubernetes.repository.argo_destination import OWN_CLUSTER, ArgoTarget, argo_target

API_SERVER = r"https://[A-Za-z0-9._:/-]{1,200}"


@record
class ArgoDestination:
    """The cluster that Argo CD deploys to: `name` or `server`."""

    name: str | None = spec("Name of the cluster in Argo CD.", default=None, pattern=TEXT, form="one line")
    server: str | None = spec(
        "API server address.",
        default=None,
        pattern=API_SERVER,
        form="an https address",
    )

    @property
    def target(self) -> ArgoTarget:
        return argo_target(self.name, self.server)


class DeliveryKind(StrEnum):
    APPLICATION = "Application"
    KUSTOMIZATION = "Kustomization"
    HELM_RELEASE = "HelmRelease"


@record
class DeliveredBefore:
    """An existing unit of the same engine, which somebody else writes."""

    kind: DeliveryKind = spec("Argo CD: Application. Flux: Kustomization or HelmRelease.")
    name: str = spec("Its name.", pattern=OBJECT_NAME, form="an object's name", examples=("network-operator",))
    namespace: str | None = spec(
        "Its namespace. Default: that of the delivery objects.", default=None, pattern=DNS_LABEL, form="a DNS label"
    )


REPO_URL = (
    r"(?!https://[^/]+/[^/]+/.+/(tree|blob|raw)/)"
    r"((https|ssh|oci)://[A-Za-z0-9._~:/@+-]{1,400}|git@[A-Za-z0-9._:/~+-]{1,400})"
)
"""What a browser shows of a folder is no address of a repository; no forge lets anybody call one by these words."""
REVISION = r"refs/(heads|tags)/[A-Za-z0-9._/-]{1,200}|[0-9a-f]{40}|sha256:[0-9a-f]{64}"
ENGINE_VERSION = r"v?\d{1,3}\.\d{1,3}(\.\d{1,3})?"
REVISION_FORM = "refs/heads/<branch>, refs/tags/<tag>, a full commit id, or the sha256 digest of an artefact"
_BRANCH = r"(?!refs/)[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*"


class StackKind(StrEnum):
    OPERATOR = "operator"
    DEVICE_PLUGIN = "device-plugin"
    GPU_CLUSTER = "gpu-cluster"


class DriverMode(StrEnum):
    CLUSTER_POLICY = "cluster-policy"
    NVIDIA_DRIVER = "nvidia-driver"


class NfdProvider(StrEnum):
    OPERATOR = "operator"
    EXTERNAL = "external"


class Engine(StrEnum):
    ARGOCD = "argocd"
    FLUX = "flux"

    @property
    def called(self) -> str:
        """By people."""
        return "Argo CD" if self is Engine.ARGOCD else "Flux"


class Retiring(StrEnum):
    """What becomes of all that a delivery applied, once its objects leave."""

    KEEP = "keep"
    REMOVE = "remove"


@record
class Acknowledgement:
    """A fact that no file can prove, or a risk that somebody takes."""

    fact: str = spec(
        "What is acknowledged.",
        pattern=rf"{DNS_LABEL}|(offers|label|gone|refused)/{FACT}",
        form="a kebab-case word, or what a message says to write",
        examples=("iommu", "acs", "nouveau-off", "mixed-runtimes", "offers/nvidia.com/mig-1g.10gb"),
    )
    by: str | None = spec("Who acknowledges it.", default=None, pattern=TEXT, form="one line of text")
    date: str | None = spec(
        "When, as year-month-day.", default=None, pattern=r"\d{4}-\d{2}-\d{2}", form="a date like 2026-11-20"
    )


@record
class Kubernetes:
    """The cluster's Kubernetes."""

    version: str = spec(
        "Kubernetes minor or patch version.",
        pattern=r"1\.\d{1,3}(\.\d{1,3})?",
        form='a version like "1.33"',
        examples=("1.33",),
    )
    distribution: str = spec(
        "How Kubernetes is installed. The paths of the container runtime and the way to provision nodes depend on it.",
        pattern=DNS_LABEL,
        form="a name like kubeadm or k3s",
        examples=("kubeadm", "rke2", "k3s", "eks"),
        known=known_words.distributions,
    )


@record
class DcgmExporterStack:
    """dcgm-exporter of a stack without an operator."""

    release: str = spec("Release tag of dcgm-exporter.", pattern=TOKEN, form="a release tag", examples=("4.1.1-4.0.4",))
    service_monitor: bool = spec("Create a Prometheus ServiceMonitor.", default=False)


@record
class DraDriver:
    """The DRA driver of a cluster of kind gpu-cluster."""

    feature_gates: dict[str, bool] = spec(
        "Feature gates of the driver, on or off. Most of them are alpha.",
        default={},
        keys=r"[A-Za-z][A-Za-z0-9]{0,62}",
        examples=({"DynamicMIG": True},),
    )


@record
class Stack:
    """What manages the GPUs of the cluster."""

    kind: StackKind = spec(
        "`operator`: the NVIDIA GPU Operator with a ClusterPolicy. `gpu-cluster`: the operator with a GPUCluster that "
        "gives GPUs out by claims (DRA); experimental. `device-plugin`: the hand-installed stack, without an operator.",
        default=StackKind.OPERATOR,
    )
    release: str = spec(
        "Release tag of the gpu-operator chart, or of the device plugin.",
        pattern=r"v\d+\.\d+\.\d+",
        form="a release tag like v26.3.3",
        examples=("v26.3.3",),
        known=known_words.releases,
    )
    upgrading_from: str | None = spec(
        "Release tag that the cluster still runs while this one rolls out. Until then the admission policy of the "
        "grants accepts pods of both. Remove it afterwards.",
        default=None,
        pattern=r"v\d+\.\d+\.\d+",
        form="a release tag like v26.3.3",
        examples=("v26.3.3",),
    )
    namespace: str | None = spec(
        "Namespace of operator and operands. Default: gpu-operator, or kube-system without an operator.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
    )
    driver_mode: DriverMode = spec(
        "Who describes drivers: one ClusterPolicy for all pools, or one NVIDIADriver object for each pool. "
        "You must choose it, because changing it replaces every driver pod.",
        default=DriverMode.CLUSTER_POLICY,
    )
    values: dict[str, Any] = spec(
        "Extra Helm values for the gpu-operator chart, beside what the pools need.", default={}
    )
    dra_driver: DraDriver = spec("The DRA driver, for kind gpu-cluster.", default=DraDriver())
    dcgm_exporter: DcgmExporterStack | None = spec("dcgm-exporter, for a stack without an operator.", default=None)
    gpu_feature_discovery: bool = spec(
        "GPU feature discovery, for a stack without an operator. It writes its labels through Node Feature Discovery, "
        "which comes with it unless `nfd.provider` is external.",
        default=False,
    )

    @property
    def by_operator(self) -> bool:
        """Whether the GPU Operator is installed, with either of its kinds."""
        return self.kind is not StackKind.DEVICE_PLUGIN


@record
class Nfd:
    """Node Feature Discovery."""

    @staticmethod
    def meant_by(value: object) -> dict[str, str] | None:
        """`nfd: false`, as in Helm values."""
        if not isinstance(value, bool):
            return None
        return {"provider": NfdProvider.OPERATOR.value if value else NfdProvider.EXTERNAL.value}

    provider: NfdProvider = spec(
        "`operator`: it comes with the GPU stack. `external`: the cluster has it already.",
        default=NfdProvider.OPERATOR,
    )


@record
class FluxSourceRef:
    """An existing Flux source of the repository that holds output/."""

    kind: str = spec(
        "Kind of the source.",
        default="GitRepository",
        pattern="GitRepository|OCIRepository|Bucket",
        form="GitRepository, OCIRepository or Bucket",
    )
    name: str = spec("Name of the source.", pattern=DNS_LABEL, form="a DNS label", examples=("flux-system",))
    namespace: str | None = spec(
        "Namespace of the source. Default: delivery.namespace.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
    )


class VerifyMode(StrEnum):
    """What of a git repository has to be signed."""

    HEAD = "HEAD"
    TAG = "Tag"
    TAG_AND_HEAD = "TagAndHEAD"


class VerifyProvider(StrEnum):
    COSIGN = "cosign"
    NOTATION = "notation"


@record
class SignerIdentity:
    """Who has to have signed without a key: regular expressions over the whole of both."""

    issuer: str = spec("Issuer of the identity's token.", pattern=TEXT, examples=(r"^https://git.example.com$",))
    subject: str = spec(
        "Who it was issued to.",
        pattern=TEXT,
        examples=(r"^https://git.example.com/gpu/release@refs/heads/main$",),
    )


@record
class Verify:
    """What Flux demands of the source before anything of it is applied."""

    secret: str | None = spec(
        "Secret in the namespace of the source with the public keys that may have signed.",
        default=None,
        pattern=OBJECT_NAME,
        form="a secret's name",
        examples=("release-keys",),
    )
    mode: VerifyMode | None = spec(
        "Of a git repository: the commit, the tag, or both. Default: HEAD, the commit.", default=None
    )
    provider: VerifyProvider | None = spec(
        "Of an OCI artefact: what it was signed with. Default: cosign.", default=None
    )
    identities: tuple[SignerIdentity, ...] = spec(
        "Of an artefact that cosign signed without a key: one of these has to have signed it.", default=()
    )


@record
class Hydrate:
    """Argo CD's source hydrator: it renders the output, commits that to a branch of its own, and syncs from there."""

    branch: str = spec(
        "Branch of the same repository that Argo CD commits to and syncs from.",
        pattern=_BRANCH,
        form="a branch without refs/heads/",
        examples=("environments/prod-eu",),
    )
    stage_branch: str | None = spec(
        "Branch that Argo CD commits to instead, where somebody else moves commits on to `branch`.",
        default=None,
        pattern=_BRANCH,
        form="a branch without refs/heads/",
        examples=("environments/prod-eu-next",),
    )


@record
class Delivery:
    """How the generated tree reaches the cluster."""

    engine: Engine = spec("The GitOps engine.")
    version: str | None = spec(
        "Version of Flux or Argo CD that runs. What it does differently from other versions is reported, and `diff` "
        "shows it where the version changes. Default: unknown; what is generated holds for all that the catalog knows.",
        default=None,
        pattern=ENGINE_VERSION,
        form="a version, such as 2.9 or v3.4.2",
        examples=("2.9", "3.4.2"),
    )
    repo_url: str = spec(
        "Repository that contains output/.",
        name="repoURL",
        pattern=REPO_URL,
        form="an https, ssh or oci address",
        examples=("https://git.example.com/gpu.git",),
    )
    revision: str = spec(
        "Full git reference, tag or commit. Of an OCI artefact: its tag as refs/tags/<tag>, or its digest.",
        default="refs/heads/main",
        pattern=REVISION,
        form=REVISION_FORM,
    )
    name: str | None = spec(
        "What the names of the delivery's objects begin with. Default: metadata.name. A cluster that is renamed keeps "
        "its old name here: to the engine, an object with another name is another object.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
        examples=("prod-eu",),
    )
    retiring: Retiring | None = spec(
        "While a delivery is given up. `keep`: its objects are suspended, and may leave without what they applied. "
        "`remove`: they take all of it along when they leave. `poolsmith move` writes it, and takes it away.",
        default=None,
    )
    path: str = spec(
        "Path of output/ in that repository.",
        default="output",
        pattern=RELATIVE_PATH,
        form="a relative path without `..`",
    )
    namespace: str | None = spec(
        "Namespace of the delivery objects. Default: argocd, or flux-system.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
    )
    project: str = spec("Argo CD project.", default="default", pattern=DNS_LABEL, form="a DNS label")
    destination: ArgoDestination | None = spec(
        "Argo CD destination. Default: the cluster that Argo CD runs in.", default=None
    )
    instance: str | None = spec(
        "Which Argo CD delivers the cluster, where a fleet has several: a name of your choice, such as the cluster's. "
        "Clusters that write the same name share one, and need different destinations. Default: the one Argo CD of all "
        "clusters that name none.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
        examples=("edge-1",),
    )
    chart_repo: str | None = spec(
        "Helm repository of the cluster's charts. Default: those of their publishers.",
        default=None,
        pattern=r"(https|oci)://[A-Za-z0-9._~:/-]{1,400}",
        form="an https or oci address",
    )
    after: tuple[DeliveredBefore, ...] = spec(
        "Existing units of the same engine that the stack comes after, such as the network operator.",
        default=(),
        examples=([{"kind": "Kustomization", "name": "network-operator"}],),
    )
    source_ref: FluxSourceRef | None = spec("Existing Flux source; without it one is generated.", default=None)
    hydrate: Hydrate | None = spec("Argo CD's source hydrator; without it Argo CD syncs `revision`.", default=None)
    verify: Verify | None = spec("Signatures that the generated Flux source demands.", default=None)

    @property
    def objects_namespace(self) -> str:
        """Where the objects of the delivery live."""
        return self.namespace or ("argocd" if self.engine is Engine.ARGOCD else "flux-system")

    @property
    def argo_target(self) -> ArgoTarget:
        """The cluster that Argo CD delivers to."""
        return self.destination.target if self.destination is not None else OWN_CLUSTER


@record
class Registry:
    """Where images are pulled from."""

    mirrors: dict[str, str] = spec(
        "Registry host to its mirror: the mirror replaces the host, the rest of the reference stays.",
        default={},
        keys=r"[a-z0-9][a-z0-9.-]*(:[0-9]+)?",
        pattern=REGISTRY,
        form="a registry host, with a path where needed",
        examples=({"nvcr.io": "registry.example.com/nvcr"},),
    )
    pull_secrets: tuple[str, ...] = spec(
        "Names of image pull secrets that exist in the stack's namespace, and in that of the smoke test.",
        default=(),
        pattern=r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?",
        form="a secret's name",
        unique=True,
    )


@record
class SmokeTest:
    """The CUDA job that proves a pool works; run on purpose, never by a sync."""

    image: str | None = spec(
        "Image of the job. Default: NVIDIA's vectoradd sample for the driver's branch.",
        default=None,
        pattern=r"[a-z0-9][A-Za-z0-9._:/@-]{0,254}",
        form="an image reference",
    )
    namespace: str = spec("Namespace of the job.", default="default", pattern=DNS_LABEL, form="a DNS label")


@record
class ClusterSpec:
    """Everything that a cluster has once."""

    kubernetes: Kubernetes = spec("The cluster's Kubernetes.")
    ring: str | None = spec(
        "Ring in which the cluster gets what is new, of the order in profiles/_rings.yaml. Default: outside of it.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
        examples=("canary",),
    )
    stack: Stack = spec("What manages the GPUs.")
    pool_label: str = spec(
        "Key of the node label that distinguishes pools: the nodes of a pool have this key with the pool's label "
        "value.",
        default="poolsmith.dev/pool",
        pattern=PREFIXED_NAME,
        form="a label key with a prefix, like example.com/gpu-pool",
        examples=("example.com/gpu-pool",),
    )
    nfd: Nfd = spec("Node Feature Discovery.", default=Nfd())
    delivery: Delivery = spec("How the output reaches the cluster.")
    registry: Registry = spec("Registry mirrors and pull secrets.", default=Registry())
    owner: str | None = spec(
        "Who answers for the cluster; for the inventory.", default=None, pattern=TEXT, form="one line of text"
    )
    smoke_test: SmokeTest = spec("The smoke-test job.", default=SmokeTest())
    beside: tuple[str, ...] = spec(
        "Files and folders of this repository that stand beside the GPU stack: what makes the nodes (Karpenter, "
        "Cluster API, Talos, eksctl and others), a NicClusterPolicy. `check` compares them with the pools.",
        default=(),
        pattern=RELATIVE_PATH,
        form="a relative path without `..`",
        examples=(["clusters/prod-eu/karpenter"],),
        unique=True,
    )
    acknowledge: tuple[Acknowledgement, ...] = spec(
        "Facts and risks that somebody has accepted responsibility for.", default=()
    )


@record
class Cluster:
    """A cluster's profile."""

    metadata: Metadata
    spec: ClusterSpec
    path: str
