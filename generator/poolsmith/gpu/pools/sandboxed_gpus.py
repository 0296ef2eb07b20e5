"""Workloads that take whole GPUs away from containers, with what only containers have; and where Kata can't run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.gpu_use import SANDBOX_CONTRADICTION
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.pools.pool_record import KATA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.pools.pool_record import PoolRecord

RULE = SANDBOX_CONTRADICTION
_LAYOUT_OFF = "all-disabled"


def check(pool: PoolRecord) -> Iterator[Finding[Location]]:
    if not pool.is_sandboxed or pool.workload is None:
        return
    workload = pool.workload
    if pool.mig is not None and pool.mig.value != _LAYOUT_OFF:
        yield Finding(
            message=f"a {pool.word} of workload `{workload.value}` passes whole GPUs through; MIG does not apply",
            place=pool.mig.at(),
            help=f"remove `{pool.mig.name}`",
            related=(workload.at("the workload"),),
        )
    if pool.sharing is not None:
        yield Finding(
            message=f"a {pool.word} of workload `{workload.value}` passes whole GPUs through; they can't be shared",
            place=pool.sharing.at(),
            help=f"remove `{pool.sharing.name}`",
            related=(workload.at("the workload"),),
        )
    if workload.value in KATA:
        yield from _kata(pool)


def _kata(pool: PoolRecord) -> Iterator[Finding[Location]]:
    era = pool.era
    if era is None or era.installer is None:
        return
    if pool.runtime is not None and pool.runtime.value not in era.runtimes:
        yield Finding(
            message=f"Kata with {pool.release} needs {listed(era.runtimes)}, and the {pool.word} runs "
            f"{pool.runtime.value}",
            place=pool.runtime.at(),
            help=f"use {era.runtimes[0]} on the nodes of Kata",
        )
    if pool.arch is not None and pool.arch.value not in era.arch:
        yield Finding(
            message=f"the images that install Kata with {pool.release} are none for {pool.arch.value}",
            place=pool.arch.at(),
            help=f"run Kata on nodes of {listed(era.arch)}, or leave the {pool.word} out",
        )
    if pool.system is not None and pool.own_driver:
        yield Finding(
            message=f"every image of {pool.system.value} for GPU nodes has NVIDIA's driver, which holds the GPUs that "
            "Kata is to get",
            place=pool.system.at(),
            help="run Kata on nodes of another system",
        )
    if pool.cc_mode is not None and pool.workload is not None and pool.workload.value == KATA[0]:
        yield from _plain(pool)


def _plain(pool: PoolRecord) -> Iterator[Finding[Location]]:
    if pool.cc_mode is not None and pool.cc_mode.value not in ("", "off"):
        yield Finding(
            message=f"plain Kata needs GPUs whose CC mode is off, and `{pool.cc_mode.value}` is not",
            place=pool.cc_mode.at(),
            help="write `workload: kata-confidential`, or turn the mode off",
        )
