"""Layouts of vGPUs that a release does not know, or that are of other GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.gpu_use import VGPU_LAYOUT
from poolsmith.core.diagnostics.message_text import did_you_mean, listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.vgpu_hosts import gpu_of, read_vgpu_hosts
from poolsmith.gpu.pools.pool_record import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.pools.pool_record import PoolRecord

RULE = VGPU_LAYOUT
_DEFAULT = "default"


def check(pool: PoolRecord) -> Iterator[Finding[Location]]:
    """Of the operator's own layouts; None in `vgpu` where somebody else's are read."""
    if pool.vgpu is None or pool.release is None or pool.vgpu.value in ("", _DEFAULT):
        return
    if pool.workload is not None and pool.workload.value != VIRTUAL:
        return
    layout, types = pool.vgpu.value, read_vgpu_hosts().types(pool.release)
    ids = tuple(device.id for device in pool.gpu.value.devices) if pool.gpu is not None else ()
    mine = read_vgpu_hosts().gpus_of(ids)
    if layout not in types:
        fitting = [name for name in types if gpu_of(name) in mine] or list(types)
        yield Finding(
            message=f"{pool.release} has no vGPU layout `{layout}`",
            place=pool.vgpu.at(),
            help=f"{did_you_mean(layout, fitting)}; or define it yourself",
        )
    elif pool.gpu is not None and mine and gpu_of(layout) not in mine:
        yield Finding(
            message=f"`{layout}` is a vGPU of another GPU than {pool.gpu.value.product}",
            place=pool.vgpu.at(),
            help=f"use one that begins with {listed(sorted(mine))}",
        )
