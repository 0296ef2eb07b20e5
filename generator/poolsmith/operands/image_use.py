"""An image that nodes pull, and for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUse:
    """`workloads` are namespace/Kind/name; `pools` are names of pools, ANY_NODE or NO_KNOWN_NODE."""

    image: str
    workloads: tuple[str, ...]
    pools: tuple[str, ...]
    systems: tuple[str, ...] = ()
    """Operating systems of those pools, as `ubuntu 22.04`."""
