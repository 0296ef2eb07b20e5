"""Levels and versions of the Pod Security Standards, and what a check is.

A version is the minor of Kubernetes 1.x; a table of a check maps the minor from which something holds to what holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.kubernetes.pods.field import Field
    from poolsmith.kubernetes.pods.pod import Pod

T = TypeVar("T")
NEWEST = 37
LATEST = "latest"
_VERSION = pattern(r"v?1\.(0|[1-9][0-9]{0,5})", re.ASCII)


class Level(StrEnum):
    PRIVILEGED = "privileged"
    BASELINE = "baseline"
    RESTRICTED = "restricted"


@record(kw_only=False)
class Offence:
    """A field that a check does not allow (or where one is missing), and what is wrong with it."""

    place: Field
    detail: str


Find = Callable[["Pod", int], Iterator[Offence]]


@record(kw_only=False)
class PodSecurityCheck:
    """`reason` says in short what is not allowed, `fix` what to write. It holds from minor `since` on.

    A restricted check stands in the place of the baseline checks that it `replaces`.
    """

    id: str
    level: Level
    reason: str
    fix: str
    find: Find
    since: int = 0
    replaces: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def minor_of(version: str) -> int:
    """1.34, v1.34 or latest; what is newer than the newest known counts as the newest. Raises ValueError."""
    if version == LATEST:
        return NEWEST
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(version)
    return min(int(match[1]), NEWEST)


def at(table: Mapping[int, T], minor: int) -> T:
    """What a table holds at a minor. Raises ValueError for one that is older than its first row."""
    return table[max(since for since in table if since <= minor)]


_RELAXED_BY_USER_NAMESPACE = {0: False, 35: True}


def in_user_namespace(pod: Pod, minor: int) -> bool:
    """Whether a pod has a user namespace of its own, and the version counts it."""
    return at(_RELAXED_BY_USER_NAMESPACE, minor) and pod.has_user_namespace
