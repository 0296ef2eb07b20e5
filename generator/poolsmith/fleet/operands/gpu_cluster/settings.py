"""A GPUCluster as the operator reads it: with its own answers where a field is absent.

Source: NVIDIA/gpu-operator@v26.7.0:api/nvidia/v1alpha1, internal/state.
"""

from __future__ import annotations

from poolsmith.core.sources.nested import MISSING, value_at
from poolsmith.fleet.operands.resource_spec import ResourceSpec

KUBELET_ROOT = "/var/lib/kubelet"
_GATES = "featureGates."
_COMPUTE_DOMAINS = "computeDomains.enabled"


class Settings(ResourceSpec):
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
