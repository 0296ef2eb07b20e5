"""The resolved decisions for one cluster, among them the toolkits that belong to one pool only.

`pipeline` makes a plan in small passes; `project.output` turns it into files. Every value carries its origin.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import tree_of
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.profiles.cluster import Cluster, DriverMode
from poolsmith.gpu.drivers.driver_image import branch_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.profiles.driver import KernelModuleType, UpgradePolicy, VgpuGuest
    from poolsmith.fleet.profiles.node_pool import NodePool, Taint


ValuePath = tuple[str, ...]
PROVISIONER = "provisioner"
NFD = "nfd"


@record(kw_only=False)
class ValueSetting:
    """One Helm value that differs from the chart's default."""

    path: ValuePath
    value: Any
    origin: Origin

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


def values_tree(settings: Iterable[ValueSetting]) -> dict[str, Any]:
    """The settings as one mapping, keys in order."""
    return tree_of((setting.path, setting.value) for setting in sorted(settings, key=lambda item: item.path))


@record(kw_only=False)
class LabelSetting:
    """A label that a pool's nodes must carry, and who writes it: provisioner, nfd, or the name of a cloud."""

    key: str
    value: str
    writer: str
    origin: Origin


@record
class DriverPlan:
    """A pool's one driver source.

    `version` is a branch when precompiled, None when pre-installed and untold. A guest's is the tag of its image, which
    says nothing of the driver in it.
    """

    source: str
    version: str | None
    repository: str
    image: str
    os_tags: tuple[str, ...]
    """The systems' parts of image tags, one for each system that nodes of the pool run."""
    kernel_module_type: KernelModuleType | None
    upgrade_policy: UpgradePolicy | None
    install_dir: str | None
    origin: Origin
    version_origin: Origin
    vgpu: VgpuGuest | None = None

    @property
    def managed(self) -> bool:
        """Whether the operator installs it."""
        return self.source in ("container", "precompiled")

    @property
    def precompiled(self) -> bool:
        return self.source == "precompiled"

    @property
    def kind(self) -> str:
        """The driverType of an NVIDIADriver."""
        return "gpu" if self.vgpu is None else "vgpu"

    @property
    def branch(self) -> int | None:
        """None where nobody can tell."""
        return None if self.version is None or self.vgpu is not None else branch_of(self.version)


@record
class SmokeJob:
    """The job that proves a pool. `reason` says why there is none when `image` is None."""

    image: str | None = None
    resource: str = "nvidia.com/gpu"
    count: int = 1
    limits: tuple[tuple[str, str], ...] = ()
    """What it asks for beside `count` of `resource`."""
    claim: tuple[str, str] | None = None
    """The apiVersion of a claim, and its DeviceClass, in the place of `resource`."""
    domain: str | None = None
    """The apiVersion of a ComputeDomain that it joins, too."""
    runtime_class: str | None = None
    annotations: tuple[tuple[str, str], ...] = ()
    reason: str | None = None


@record
class HostDevice:
    """What KubeVirt permits virtual machines to ask for: a PCI device as `10DE:2236`, or the name of a mediated one."""

    selector: str
    resource: str
    mediated: bool


@record
class PoolPlan:
    """The decisions for one pool."""

    profile: NodePool
    architecture: str | None = None
    accelerator: str | None = None
    """What the cloud calls the GPU; None where there is no cloud, or nobody knows."""
    driver: DriverPlan | None = None
    toolkit: str = "operator"
    labels: tuple[LabelSetting, ...] = ()
    autoscaler_flags: tuple[str, ...] = ()
    """What a cluster-autoscaler of one's own has to be started with."""
    node_names: tuple[str, ...] = ()
    mig_strategy: str | None = None
    resources: tuple[str, ...] = ()
    slices: tuple[tuple[str, int], ...] = ()
    """By resource, how many a node with the pool's MIG layout offers; empty where nobody knows."""
    passthrough_resource: str | None = None
    runtime_class: str | None = None
    """What sandboxed pods have to name."""
    host_devices: tuple[HostDevice, ...] = ()
    device_plugin_config: str | None = None
    smoke: SmokeJob = SmokeJob(reason="not planned")

    @property
    def name(self) -> str:
        return self.profile.metadata.name

    @property
    def object_name(self) -> str:
        """What it is called in the cluster."""
        return self.profile.object_name

    @property
    def label_value(self) -> str:
        return self.profile.label_value

    @property
    def own_driver(self) -> bool:
        """Whether nodes are made without a driver: the operator brings one, or none is to be loaded there."""
        return self.driver is None or self.driver.managed

    @property
    def taints(self) -> tuple[Taint, ...]:
        return self.profile.spec.nodes.taints

    @property
    def taints_of_new_nodes(self) -> tuple[Taint, ...]:
        """What has to be tolerated by whatever prepares a node."""
        return self.profile.spec.nodes.taints + self.profile.spec.nodes.startup_taints


@record(kw_only=False)
class Singleton:
    """Something that a cluster has once, with the pools that ask for it."""

    name: str
    value: str
    asked_by: tuple[str, ...]
    because: str


@record
class KubernetesObject:
    """An object that is generated as it is, into a named file of a unit."""

    file: str
    body: dict[str, Any]
    origin: Origin


@record
class HelmChart:
    """A chart that a unit installs. `publisher` is the repository that it comes from where no other is named."""

    name: str
    version: str
    repository: str
    publisher: str
    values_file: str


@record
class GitSource:
    """A pinned kustomization in somebody else's repository.

    It brings its namespace itself; `level` is the Pod Security level that its workloads need there, and
    `image_hosts` are the registries that it names.
    """

    repository: str
    revision: str
    path: str
    level: str
    image_hosts: tuple[str, ...] = ()


@record
class UnitPlan:
    """Something delivered on its own: a folder with a kustomization, maybe a chart, maybe a pinned source."""

    name: str
    folder: str
    namespace: str
    title: str
    objects: tuple[KubernetesObject, ...] = ()
    values: tuple[ValueSetting, ...] = ()
    chart: HelmChart | None = None
    catalog_release: str | None = None
    source: GitSource | None = None
    before_platform: bool = False


@record
class PoolDriverObject:
    """An NVIDIADriver that selects one pool."""

    pool: str
    name: str
    spec: dict[str, Any]
    origin: Origin

    @property
    def body(self) -> dict[str, Any]:
        return {
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "NVIDIADriver",
            "metadata": {"name": self.name},
            "spec": self.spec,
        }


@record
class NamespacePlan:
    """A namespace that poolsmith creates, with its Pod Security level."""

    name: str
    level: str
    origin: Origin


@record(slots=False)
class ClusterPlan:
    """The decisions for one cluster; pools sorted by name."""

    cluster: Cluster
    pools: tuple[PoolPlan, ...]
    namespace: str
    line: str = ""
    driver_mode: DriverMode = DriverMode.CLUSTER_POLICY
    values: tuple[ValueSetting, ...] = ()
    singletons: tuple[Singleton, ...] = ()
    namespaces: tuple[NamespacePlan, ...] = ()
    quotas: tuple[KubernetesObject, ...] = ()
    config_maps: tuple[KubernetesObject, ...] = ()
    brought: tuple[dict[str, Any], ...] = ()
    """Objects that somebody else delivers and the operator reads."""
    driver_objects: tuple[PoolDriverObject, ...] = ()
    toolkit_overlays: tuple[ToolkitOverlay, ...] = ()
    units: tuple[UnitPlan, ...] = ()
    chart: HelmChart | None = None
    ignore_differences: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    provisioners: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.cluster.metadata.name

    @property
    def delivery_name(self) -> str:
        """What the names of the delivery's objects begin with."""
        return self.cluster.spec.delivery.name or self.name

    @cached_property
    def positions(self) -> dict[str, int]:
        """Of the pools, by name."""
        return {pool.name: index for index, pool in enumerate(self.pools)}

    @property
    def stack_line(self) -> FromProfile:
        """Where defaults of the chart come from."""
        return FromProfile(self.cluster.path, "/spec/stack")

    def line_of_file(self, path: str) -> FromProfile:
        """What a generated file goes back to: a pool's own to the pool's profile, each other to the cluster's."""
        folder, _, below = path.partition("/")
        name = below.partition("/")[0] if folder == "pools" else ""
        found = self.positions.get(name)
        pool = self.pools[found] if found is not None else None
        return FromProfile(pool.profile.path, "/metadata/name") if pool is not None else self.stack_line

    def setting(self, *path: str) -> ValueSetting | None:
        return next((setting for setting in self.values if setting.path == path), None)


TOOLKIT_NAME = "poolsmith-toolkit"
"""Of the workload, its account and what that may do; each pool's ends in the pool's suffix."""
TOOLKIT_ENTRYPOINT = f"{TOOLKIT_NAME}-entrypoint"
_LONGEST = 45
_HASHED = 8


@record
class ToolkitOverlay:
    """A DaemonSet for a container runtime that the operator does not configure.

    `env` stands in the place of what the operator's toolkit is told about its runtime; it lands where the node carries
    `pool_label` with `label_value`.
    """

    pool: str
    called: str
    """What the pool is called in the cluster."""
    runtime: str
    pool_label: str
    label_value: str
    env: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]
    origin: Origin

    @property
    def suffix(self) -> str:
        """Short enough for names that are label values too."""
        if len(self.called) <= _LONGEST:
            return f"-{self.called}"
        digest = hashlib.sha256(self.called.encode()).hexdigest()[:_HASHED]
        return f"-{self.called[: _LONGEST - _HASHED - 1].rstrip('-')}-{digest}"

    @property
    def name(self) -> str:
        return TOOLKIT_NAME + self.suffix

    @property
    def entrypoint(self) -> str:
        """The ConfigMap that it starts from."""
        return TOOLKIT_ENTRYPOINT + self.suffix
