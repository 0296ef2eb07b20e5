"""What the operator refuses about an NVIDIADriver before it looks for nodes.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.drivers.features import BESIDE_COMPILED, needs_open_modules
from poolsmith.drivers.kernel_modules import OPEN, chosen_by
from poolsmith.operands.kube import OperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from poolsmith.operands.context import Context
    from poolsmith.operands.nvidia_driver.driver_resource import NvidiaDriver


def check(driver: NvidiaDriver, context: Context, behaviour: Mapping[str, Any]) -> None:
    """Raises OperatorError."""
    if driver.precompiled and any(driver.flag(name, "enabled") for name in BESIDE_COMPILED):
        raise OperatorError(
            "GPUDirect Storage driver (nvidia-fs) and/or GDRCopy driver is not supported along with pre-compiled "
            "NVIDIA drivers"
        )
    _demand_open_modules(driver, behaviour)
    if behaviour["secretEnv"] and (secret := driver.text("secretEnv")) and context.existing("Secret", secret) is None:
        raise OperatorError(f'secrets "{secret}" not found')


def _demand_open_modules(driver: NvidiaDriver, behaviour: Mapping[str, Any]) -> None:
    """Newer nvidia-fs loads beside open kernel modules only."""
    field = behaviour["kernelModule"]
    is_open = chosen_by(field, driver.spec.get(field)) == OPEN
    version = driver.text("gds", "version")
    if is_open or not driver.flag("gds", "enabled"):
        return
    if needs_open_modules(version, behaviour["gdsNeedsOpenModules"]):
        raise OperatorError(
            f"GPUDirect Storage driver '{version}' is only supported with NVIDIA OpenRM drivers. Please set "
            "'useOpenKernelModules=true' to enable OpenRM mode"
        )
