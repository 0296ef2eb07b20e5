"""Which driver images somebody publishes: by system, processor, kernel and version, as far as a list says it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.driver_images import DriverImages, PrecompiledRow
    from poolsmith.gpu.catalog.platforms import OperatingSystemEntry
    from poolsmith.gpu.catalog.releases import Release

_KERNEL = re.compile(r"(?P<minor>\d+\.\d+)\.\d+-\d+-(?P<flavour>[a-z][a-z0-9-]*)\Z")


def has_containers(system: OperatingSystemEntry | None) -> bool | None:
    """Whether NVIDIA publishes driver containers for a system; None where no source says it."""
    if system is None or system.driver not in ("container", "unknown"):
        return False
    return True if system.driver == "container" else None


def has_precompiled(release: Release, arch: str) -> bool:
    """Whether NVIDIA's precompiled drivers exist for a processor."""
    return arch in release.precompiled_arch


def is_left_out(images: DriverImages, os_tag: str, version: str, branch: int | None) -> bool:
    """Whether it is known that no container of a driver was built for a system."""
    known = images.compiled.get(os_tag)
    return known is not None and (bool(known.branches and branch not in known.branches) or version in known.without)


def nearest_listed(
    images: DriverImages, *, line: str, os_tag: str, kernel: str, branch: int | None
) -> tuple[PrecompiledRow, ...]:
    """What a line lists instead of a precompiled driver that it lacks; empty where it has it, or nobody can tell.

    Rows of the same system, or all where none is of it.
    """
    rows = images.precompiled.get(line, ())
    if not kernel or branch is None or any(_lists(row, os_tag, kernel, branch) for row in rows):
        return ()
    return tuple(row for row in rows if row.os_tag == os_tag) or rows


def _lists(row: PrecompiledRow, os_tag: str, kernel: str, branch: int) -> bool:
    match = _KERNEL.match(kernel)
    return (
        match is not None
        and (row.os_tag, row.kernel) == (os_tag, match["minor"])
        and branch in row.branches
        and match["flavour"] in row.flavours
    )
