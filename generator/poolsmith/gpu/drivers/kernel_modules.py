"""Which kernel modules a driver loads, the open or the proprietary ones, and which of them a GPU can use.

`chosen` is open, proprietary, auto, or empty where nobody says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import version_key
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.driver_images import DriverImages
    from poolsmith.gpu.catalog.gpus import Architecture

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
    if architecture.open == "required" and not _loads_open(chosen, version, release, images):
        return OPEN
    if architecture.open == "unsupported" and chosen == OPEN:
        return PROPRIETARY
    return None


def _loads_open(chosen: str, version: str | None, release: str, images: DriverImages) -> bool:
    if chosen in (OPEN, PROPRIETARY):
        return chosen == OPEN
    return module_field(release) == TYPE and (version is None or chooses_itself(version, images))
