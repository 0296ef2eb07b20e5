"""What all NVIDIADriver objects of a cluster are expanded with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from poolsmith.fleet.operands.context import Context
    from poolsmith.fleet.operands.nvidia_driver.conflicts import Conflicts
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.gpu.catalog.nvidia_drivers import NvidiaDriverEntry


@record
class DriverRequest:
    """`drivers` are in the order of their names. `environment` holds the operator's own variables; None: not told."""

    context: Context
    entry: NvidiaDriverEntry
    drivers: tuple[NvidiaDriver, ...]
    conflicts: Conflicts
    gpu_cluster: bool = False
    environment: Mapping[str, str] | None = None

    @property
    def behaviour(self) -> Mapping[str, Any]:
        return self.entry.behaviour
