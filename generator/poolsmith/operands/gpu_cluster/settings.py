"""A GPUCluster as the operator reads it: with its own answers where a field is absent. Floor: operands.

Source: NVIDIA/gpu-operator@v26.7.0:api/nvidia/v1alpha1, internal/state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.sources.nested import MISSING, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

KUBELET_ROOT = "/var/lib/kubelet"
_GATES = "featureGates."
_COMPUTE_DOMAINS = "computeDomains.enabled"


class Settings:
    """The spec of one GPUCluster. Never changed."""

    def __init__(self, resource: Mapping[str, Any]) -> None:
        self.resource = resource
        self.name: str = resource["metadata"]["name"]
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
