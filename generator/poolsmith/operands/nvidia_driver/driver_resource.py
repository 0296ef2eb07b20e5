"""An NVIDIADriver as the operator reads it. Floor: operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.operands.context import GPU_PRESENT
from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "NVIDIADriver"
_HOST_MANAGER = "vgpu-host-manager"


@dataclass(frozen=True, slots=True)
class NvidiaDriver:
    """One resource, with the defaults of its definition. Never changed."""

    resource: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.resource["metadata"]["name"])

    @property
    def identity(self) -> str:
        """Its uid, or its name: a stable stand-in where no API server has given one yet."""
        return str(self.resource["metadata"].get("uid") or self.name)

    @property
    def deleted(self) -> bool:
        return bool(self.resource["metadata"].get("deletionTimestamp"))

    @property
    def spec(self) -> dict[str, Any]:
        return self.resource.get("spec") or {}

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
