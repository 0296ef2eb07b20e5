"""What an operating system carries itself: a driver, and where it lies; a toolkit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.platforms import OperatingSystemEntry

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
