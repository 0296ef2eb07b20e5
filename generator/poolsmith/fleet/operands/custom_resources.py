"""ClusterPolicy, GPUCluster and NVIDIADriver as the operator reads them, and the conditions that it writes.

Where a field is absent, the operator's own answer holds.

Source: NVIDIA/gpu-operator@v26.7.0:api/nvidia/v1alpha1, internal/state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.operands.expansion import ResourceCondition
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT

if TYPE_CHECKING:
    from collections.abc import Mapping


class ResourceSpec:
    """One resource as the API server stores it. Never changed."""

    def __init__(self, resource: Mapping[str, Any]) -> None:
        self.resource = resource
        self.name = str(resource["metadata"]["name"])
        self.spec: dict[str, Any] = resource.get("spec") or {}

    def at(self, *path: str) -> dict[str, Any]:
        """A block, empty where there is none."""
        block = value_at(self.spec, path)
        return block if isinstance(block, dict) else {}

    def items(self, *path: str) -> list[Any]:
        """A list, empty where there is none."""
        found = value_at(self.spec, path)
        return found if isinstance(found, list) else []

    def text(self, *path: str) -> str:
        """A string, empty where there is none."""
        value = value_at(self.spec, path)
        return "" if value is None else str(value)

    def flag(self, *path: str) -> bool:
        """A boolean that is false unless it says true."""
        return value_at(self.spec, path) is True


ON_WHEN_UNSAID = frozenset({"driver", "toolkit", "devicePlugin", "gfd", "dcgm", "dcgmExporter", "migManager"})
"""Components that run unless a ClusterPolicy says otherwise. Source: NVIDIA/gpu-operator:api/nvidia/v1."""

WORKLOADS = ("container", "vm-passthrough", "vm-vgpu")


class ClusterPolicySpec(ResourceSpec):
    """The spec of the one ClusterPolicy."""

    def __init__(self, resource: Mapping[str, Any], *, cdi_by_default: bool) -> None:
        super().__init__(resource)
        self._cdi_by_default = cdi_by_default

    def enabled(self, component: str) -> bool:
        """Whether a component is switched on, the operator's default standing in where nothing is said."""
        value = value_at(self.spec, (component, "enabled"), None)
        if value is None:
            return self._cdi_by_default if component == "cdi" else component in ON_WHEN_UNSAID
        return value is True

    @property
    def delegates_drivers(self) -> bool:
        """Whether NVIDIADriver objects take over from `driver`."""
        return self.flag("driver", "useNvidiaDriverCRD")

    @property
    def precompiled(self) -> bool:
        return self.flag("driver", "usePrecompiled")

    @property
    def sandboxes(self) -> bool:
        return self.enabled("sandboxWorkloads")

    @property
    def sandbox_mode(self) -> str:
        return self.text("sandboxWorkloads", "mode")

    @property
    def default_workload(self) -> str:
        """The workload of GPU nodes that name none, or name one that does not exist."""
        asked = self.text("sandboxWorkloads", "defaultWorkload")
        return asked if self.sandboxes and asked in WORKLOADS else "container"

    @property
    def runtime_class(self) -> str:
        return self.text("operator", "runtimeClass") or "nvidia"

    @property
    def nri(self) -> bool:
        """Whether devices are injected through the runtime's NRI, without runtime classes."""
        return self.flag("cdi", "nriPluginEnabled")


KUBELET_ROOT = "/var/lib/kubelet"
_GATES = "featureGates."
_COMPUTE_DOMAINS = "computeDomains.enabled"


class GpuClusterSpec(ResourceSpec):
    """The spec of one GPUCluster."""

    @property
    def runs_compute_domains(self) -> bool:
        """On by the CRD's default where the block stands; off in the operator where it does not."""
        block = value_at(self.spec, ("draDriver", "computeDomains"), MISSING)
        return isinstance(block, dict) and block.get("enabled") is not False

    @property
    def runs_dcgm(self) -> bool:
        return self.flag("dcgm", "enabled")

    @property
    def runs_exporter(self) -> bool:
        """On where its block stands, unless it says no."""
        block = value_at(self.spec, ("dcgmExporter",))
        return isinstance(block, dict) and block.get("enabled") is not False

    @property
    def kubelet_root(self) -> str:
        return self.text("hostPaths", "kubeletRootDir") or KUBELET_ROOT

    @property
    def driver_folder(self) -> str:
        """Where nodes keep the driver; empty: where the operator's own driver is."""
        return self.text("hostPaths", "driverInstallDir")

    @property
    def feature_gates(self) -> str:
        """As the driver's containers take them, sorted by name."""
        gates = self.at("draDriver", "featureGates")
        return ",".join(f"{name}={str(gates[name] is True).lower()}" for name in sorted(gates))

    def holds(self, condition: str) -> bool:
        """Whether a field below draDriver is true, by the path that the catalog names."""
        if condition == _COMPUTE_DOMAINS:
            return self.runs_compute_domains
        return self.at("draDriver", "featureGates").get(condition.removeprefix(_GATES)) is True


NVIDIA_DRIVER = "NVIDIADriver"
_HOST_MANAGER = "vgpu-host-manager"


class NvidiaDriver(ResourceSpec):
    """One resource, with the defaults of its definition."""

    @property
    def identity(self) -> str:
        """Its uid, or its name: a stable stand-in where no API server has given one yet."""
        return str(self.resource["metadata"].get("uid") or self.name)

    @property
    def deleted(self) -> bool:
        return bool(self.resource["metadata"].get("deletionTimestamp"))

    @property
    def kind(self) -> str:
        """gpu, vgpu or vgpu-host-manager."""
        return self.text("driverType")

    @property
    def manages_vgpus(self) -> bool:
        return self.kind == _HOST_MANAGER

    @property
    def precompiled(self) -> bool:
        return self.flag("usePrecompiled")

    @property
    def is_default(self) -> bool:
        """Whether it serves every node that no other one serves."""
        return self.flag("default")

    @property
    def own_selector(self) -> dict[str, str]:
        """The selector that it states, empty where it states none."""
        return self.spec.get("nodeSelector") or {}

    @property
    def selector(self) -> dict[str, str]:
        """The selector that the operator goes by: an absent one means GPU nodes, an empty one means all nodes."""
        stated = self.spec.get("nodeSelector")
        return {GPU_PRESENT: "true"} if stated is None else stated


def in_name_order(resources: Any) -> list[NvidiaDriver]:
    """The order in which an API server lists them."""
    return sorted(map(NvidiaDriver, resources), key=lambda driver: driver.name)


def ready(kind: str, name: str, reason: str, message: str, *, state: str = "ready") -> ResourceCondition:
    return ResourceCondition(
        kind=kind,
        name=name,
        state=state,
        conditions=(
            {"type": "Ready", "status": "True", "reason": reason, "message": message},
            {"type": "Error", "status": "False", "reason": "Ready", "message": ""},
        ),
    )


def not_ready(kind: str, name: str, reason: str, message: str, *, state: str = "notReady") -> ResourceCondition:
    return ResourceCondition(
        kind=kind,
        name=name,
        state=state,
        conditions=(
            {"type": "Ready", "status": "False", "reason": "Error", "message": ""},
            {"type": "Error", "status": "True", "reason": reason, "message": message},
        ),
    )
