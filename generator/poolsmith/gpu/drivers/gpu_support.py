"""Whether a driver supports a GPU: from its first version to the last branch of its architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.facts.versions import is_older, version_key

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.driver_images import DriverImages
    from poolsmith.gpu.catalog.gpus import Architecture, GpuEntry


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
