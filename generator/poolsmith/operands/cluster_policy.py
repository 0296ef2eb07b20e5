"""A ClusterPolicy as the operator reads it: with its own answers where a field is absent. Floor: operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

_ON_WHEN_UNSAID = frozenset({"driver", "toolkit", "devicePlugin", "gfd", "dcgm", "dcgmExporter", "migManager"})
"""Components that run unless a ClusterPolicy says otherwise. Source: NVIDIA/gpu-operator:api/nvidia/v1."""

WORKLOADS = ("container", "vm-passthrough", "vm-vgpu")


class Policy:
    """The spec of the one ClusterPolicy. Never changed."""

    def __init__(self, resource: Mapping[str, Any], *, cdi_by_default: bool) -> None:
        self.resource = resource
        self.name: str = resource["metadata"]["name"]
        self.spec: dict[str, Any] = resource.get("spec") or {}
        self._cdi_by_default = cdi_by_default

    def at(self, *path: str) -> dict[str, Any]:
        """A block, empty where there is none."""
        block = value_at(self.spec, path, None)
        return block if isinstance(block, dict) else {}

    def text(self, *path: str) -> str:
        """A string, empty where there is none."""
        value = value_at(self.spec, path, None)
        return "" if value is None else str(value)

    def flag(self, *path: str) -> bool:
        """A boolean that is false unless it says true."""
        return value_at(self.spec, path, None) is True

    def enabled(self, component: str) -> bool:
        """Whether a component is switched on, the operator's default standing in where nothing is said."""
        value = value_at(self.spec, (component, "enabled"), None)
        if value is None:
            return self._cdi_by_default if component == "cdi" else component in _ON_WHEN_UNSAID
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
