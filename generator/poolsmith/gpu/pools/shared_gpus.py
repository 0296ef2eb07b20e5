"""Sharing that excludes itself, or that the GPUs of a pool don't have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.gpu_use import SHARING_CONTRADICTION
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.device_plugin import most_clients

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.pools.pool_record import PoolRecord, Shared

RULE = SHARING_CONTRADICTION
_REPLICAS = "mps"
"""Where the number of them stands, apart from the rest of MPS."""


def check(pool: PoolRecord) -> Iterator[Finding[Location]]:
    """Of what excludes itself the rest is not asked."""
    sharing = pool.sharing.value if pool.sharing is not None else None
    if sharing is None or pool.is_sandboxed:
        return
    if sharing.time_slicing and sharing.mps:
        yield Finding(
            message="time slicing and MPS exclude each other on one node",
            place=sharing.mps_at(),
            help="keep one of `sharing.timeSlicing` and `sharing.mps`",
        )
        return
    if sharing.mps:
        yield from _by_mps(pool, sharing)
    elif sharing.time_slicing:
        yield from _not_advertised(pool, sharing)


def _by_mps(pool: PoolRecord, sharing: Shared) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.device_plugin_config import configuration_facts  # on demand

    excluded, strategy = configuration_facts()["mpsExcludesStrategy"], pool.strategy
    divisible = pool.gpu is None or pool.gpu.value.mig is not False
    if pool.partitioned and divisible and pool.mig is not None:
        yield Finding(
            message=f"MPS shares full GPUs only, and this {pool.word} partitions them with MIG",
            place=sharing.mps_at(),
            help=f"remove `{pool.mig.name}`, or use `sharing.timeSlicing`",
            related=(pool.mig.at("the MIG layout"),),
        )
    elif strategy is not None and strategy.value == excluded:
        yield Finding(
            message=f"the device plugin refuses MPS under the MIG strategy `{excluded}`, which {strategy.name}; the "
            "strategy is one for the cluster",
            place=sharing.mps_at(),
            help="share these GPUs by `sharing.timeSlicing`, or give them a cluster of their own",
            related=(strategy.at("asks for it"),),
        )
    most = most_clients(pool.capability)
    replicas = max(sharing.mps.values())
    if replicas > most:
        yield Finding(
            message=f"an MPS server has {most} clients at most for {pool.shown}, and {replicas} replicas are asked "
            "for: its daemon stops",
            place=sharing.at.get(_REPLICAS, sharing.mps_at)(),
            help=f"write `replicas: {most}` or less, or share by `sharing.timeSlicing`",
        )


def _not_advertised(pool: PoolRecord, sharing: Shared) -> Iterator[Finding[Location]]:
    """What several pools take may name what one of them lacks."""
    if not pool.advertised:
        return
    lacking = [name for name in sharing.time_slicing if name not in pool.advertised]
    if lacking and (sharing.is_own or len(lacking) == len(sharing.time_slicing)):
        yield Finding(
            message=f"this {pool.word} advertises {listed(pool.advertised)}, not {lacking[0]}",
            place=sharing.at.get(lacking[0], sharing.time_slicing_at)(),
            help=f"write `resource: {pool.advertised[0]}`",
        )
