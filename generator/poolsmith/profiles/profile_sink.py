"""Where the mistakes of a profile are collected: keys in the wrong place are sought in all profiles' fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.profiles.cluster import ClusterSpec
from poolsmith.profiles.node_pool import PoolSpec
from poolsmith.shape.documents import FileSink

if TYPE_CHECKING:
    from poolsmith.shape.layers import Layers
    from poolsmith.sources.source_file import SourceFile

PROFILE_SPECS = (PoolSpec, ClusterSpec)


def profile_sink(
    place: SourceFile | Layers, *, subject: str = "", partial: bool = False, only_missing: bool = False
) -> FileSink:
    return FileSink(place, subject=subject, partial=partial, only_missing=only_missing, specs=PROFILE_SPECS)
