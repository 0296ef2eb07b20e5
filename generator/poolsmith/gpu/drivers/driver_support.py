"""Which kernel modules a driver loads, which GPUs it supports, what runs beside it, and what a system brings itself.

Kernel modules are the open or the proprietary ones; `chosen` is open, proprietary, auto, or empty where nobody says it.
A driver supports a GPU from its first version to the last branch of its architecture. A system may bring a driver and
a toolkit. The operator refuses some features beside some drivers.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go and controllers/object_controls.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import is_older, version_key
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.driver_images import DriverImages
    from poolsmith.gpu.catalog.gpus import Architecture, GpuEntry
    from poolsmith.gpu.catalog.platforms import OperatingSystemEntry


TYPE, SWITCH = "kernelModuleType", "useOpenKernelModules"
OPEN, PROPRIETARY = "open", "proprietary"


def module_field(release: str) -> str:
    """The field below `driver`, and of an NVIDIADriver: a type, or in older releases a switch."""
    return str(behaviour_at(release)["kernelModule"])


def chosen_by(field: str, value: Any) -> str:
    """What the value of such a field chooses."""
    if field == SWITCH:
        return OPEN if value is True else ""
    return value if isinstance(value, str) else ""


def field_value(field: str, chosen: str) -> Any:
    """The value of such a field that chooses."""
    return chosen if field == TYPE else chosen == OPEN


def written(field: str, chosen: str) -> str:
    """The same, as it is written in YAML."""
    return chosen if field == TYPE else str(chosen == OPEN).lower()


def chooses_itself(version: str, images: DriverImages) -> bool:
    """Whether the driver container of a version, or of a branch, knows `auto`."""
    key, since = version_key(version), version_key(images.auto_since)
    if len(key) == 1:
        return key >= since[:1]
    return version == images.auto_only or key >= since


def told_by_variable(version: str, images: DriverImages) -> bool:
    """Whether a driver container takes the kind of modules from KERNEL_MODULE_TYPE only."""
    key, firsts = version_key(version), [version_key(item) for item in images.by_variable]
    if key[0] > firsts[-1][0]:
        return True
    return any(key[0] == first[0] and (len(key) == 1 or key >= first) for first in firsts)


def wrong_modules(
    architecture: Architecture, chosen: str, version: str | None, *, release: str, images: DriverImages
) -> str | None:
    """The kind that the GPU needs, where the driver loads the other one.

    Without a version, the driver container is taken to know how to choose, where the release leaves that to it.
    """
    if architecture.open == "required" and not loads_open(chosen, version, release, images):
        return OPEN
    if chosen == OPEN and not has_open(architecture):
        return PROPRIETARY
    return None


def has_open(architecture: Architecture | None) -> bool:
    """Whether there are open modules for it; of an unknown one it is taken to be."""
    return architecture is None or architecture.open != "unsupported"


def loads_open(chosen: str, version: str | None, release: str, images: DriverImages) -> bool:
    """Whether a driver loads the open modules on a GPU that has both kinds, or only those."""
    if chosen in (OPEN, PROPRIETARY):
        return chosen == OPEN
    return module_field(release) == TYPE and (version is None or chooses_itself(version, images))


def ended_with(architecture: Architecture, branch: int | None) -> int | None:
    """The last branch that supports the architecture, where the driver's is a later one."""
    last = architecture.last_branch
    return last if last is not None and branch is not None and branch > last else None


def begins_with(first: str | None, version: str, branch: int | None) -> str | None:
    """The first version that knows a GPU, where the driver's is an earlier one."""
    return first if first is not None and branch is not None and is_older(version, first) else None


def mig_in_doubt(gpu: GpuEntry, version: str, branch: int | None) -> str | None:
    """What sources say where they disagree whether a driver has MIG on the GPU."""
    if gpu.mig_doubt is None or branch is None:
        return None
    through, because = gpu.mig_doubt
    key = version_key(version)
    return because if key <= version_key(through)[: len(key)] else None


def is_coherent(gpu: GpuEntry, version: str, images: DriverImages) -> bool:
    """Whether a driver turns on coherent memory management (CDMM) on the GPU's host by default."""
    key, since = version_key(version), version_key(images.coherent_since)
    return gpu.processor == images.coherent_processor and key >= since[: len(key)]


BESIDE_COMPILED = {"gds": "GPUDirect Storage", "gdrcopy": "GDRCopy"}
"""By the field: the operator refuses them beside a precompiled driver."""
_IDENTIFIER = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = pattern(
    r"v(0|[1-9]\d*)(?:\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*)"
    rf"(-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)?)?",
    re.ASCII,
)


def needs_open_modules(version: str, first: str) -> bool:
    """Whether nvidia-fs of a version loads beside open kernel modules only. `first`: the behaviour of the release."""
    return version.startswith("sha256") or _is_from(f"v{version.removeprefix('v')}", first)


def _is_from(version: str, minimum: str) -> bool:
    """Semantic versions; one that is none comes before all, a pre-release before what it prepares."""
    found, least = _VERSION.fullmatch(version), _VERSION.fullmatch(minimum)
    if found is None or least is None:
        return False
    numbers, least_numbers = (
        version_key(".".join(match[group] or "0" for group in (1, 2, 3))) for match in (found, least)
    )
    return numbers > least_numbers or (numbers == least_numbers and not found[4])


DECLARED = "declared"
"""In place of a folder that depends on the system's version and flavour, so that its owner has to say it."""
UNKNOWN = "unknown"
"""In place of a folder that no source names."""


def carries_driver(system: OperatingSystemEntry | None) -> bool:
    """Whether every image of a system for GPU nodes has a driver, so that no driver container runs there."""
    return system is not None and system.driver == "os"


def carries_toolkit(system: OperatingSystemEntry | None, version: str) -> bool:
    """Whether every image of a system's version for GPU nodes has a toolkit."""
    return system is not None and system.at(version).toolkit == "os"


def carries_toolkit_with_driver(system: OperatingSystemEntry | None) -> bool:
    """Whether those images of a system that have a driver have a toolkit, too, and others don't."""
    return system is not None and system.toolkit == "variant"


def driver_folder(system: OperatingSystemEntry | None, version: str) -> str | None:
    """A path, DECLARED or UNKNOWN; None for the root file system."""
    return system.at(version).driver_folder if system is not None else None
