"""What the operator refuses about an NVIDIADriver before it looks for nodes.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.operands.kube import OperatorError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from poolsmith.operands.context import Context
    from poolsmith.operands.nvidia_driver.driver_resource import NvidiaDriver

_IDENTIFIER = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    r"v(0|[1-9]\d*)(?:\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*)"
    rf"(-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)?)?",
    re.ASCII,
)


def check(driver: NvidiaDriver, context: Context, behaviour: Mapping[str, Any]) -> None:
    """Raises OperatorError."""
    if driver.precompiled and (driver.flag("gds", "enabled") or driver.flag("gdrcopy", "enabled")):
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
    is_open = driver.flag(field) if field == "useOpenKernelModules" else driver.text(field) == "open"
    version = driver.text("gds", "version")
    if is_open or not driver.flag("gds", "enabled"):
        return
    if version.startswith("sha256") or _is_from(f"v{version.removeprefix('v')}", behaviour["gdsNeedsOpenModules"]):
        raise OperatorError(
            f"GPUDirect Storage driver '{version}' is only supported with NVIDIA OpenRM drivers. Please set "
            "'useOpenKernelModules=true' to enable OpenRM mode"
        )


def _is_from(version: str, minimum: str) -> bool:
    """Semantic versions; one that is none comes before all, a pre-release before what it prepares."""
    found, least = _VERSION.fullmatch(version), _VERSION.fullmatch(minimum)
    if found is None or least is None:
        return False
    numbers, least_numbers = ([int(match[group] or 0) for group in (1, 2, 3)] for match in (found, least))
    return numbers > least_numbers or (numbers == least_numbers and not found[4])
