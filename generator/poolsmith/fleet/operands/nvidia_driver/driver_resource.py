"""An NVIDIADriver as the operator reads it."""

from __future__ import annotations

from typing import Any

from poolsmith.fleet.operands.resource_spec import ResourceSpec
from poolsmith.gpu.catalog.node_labels import GPU_PRESENT

KIND = "NVIDIADriver"
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
