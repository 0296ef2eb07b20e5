"""Where the mistakes of a profile are collected: keys in the wrong place are sought in all profiles' fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.shape.documents import FileSink
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.node_pool import PoolSpec

if TYPE_CHECKING:
    from poolsmith.core.shape.layers import Layers
    from poolsmith.core.sources.source_file import SourceFile

PROFILE_SPECS = (PoolSpec, ClusterSpec)


def profile_sink(
    place: SourceFile | Layers, *, subject: str = "", partial: bool = False, only_missing: bool = False
) -> FileSink:
    return FileSink(place, subject=subject, partial=partial, only_missing=only_missing, specs=PROFILE_SPECS)
