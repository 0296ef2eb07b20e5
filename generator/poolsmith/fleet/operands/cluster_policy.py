"""A ClusterPolicy as the operator reads it: with its own answers where a field is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.operands.resource_spec import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

_ON_WHEN_UNSAID = frozenset({"driver", "toolkit", "devicePlugin", "gfd", "dcgm", "dcgmExporter", "migManager"})
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
