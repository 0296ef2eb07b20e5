"""Comparing dotted versions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = pattern(r"\d+")
_MOST_DIGITS = 18
"""Longer numbers are no versions; all of them count as one number, after all others."""


@lru_cache(maxsize=4_096)
def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version, in order: `1.7.16` is after `1.7.2`."""
    return tuple(_number(digits) for digits in _NUMBER.findall(version))


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def at_least(version: str, minimum: str) -> bool:
    return version_key(version) >= version_key(minimum)


def is_older(version: str, minimum: str) -> bool:
    """Whether a version, or all of a branch that it names, comes before the minimum.

    Where it says less than the minimum, the rest may be anything: then it is not older for certain.
    """
    given = version_key(version)
    return given < version_key(minimum)[: len(given)]


def line_of(version: str) -> str:
    """Major and minor as text: `25.10` of `v25.10.1`."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def minor_key(version: str) -> tuple[int, ...]:
    """Major and minor alone: of Kubernetes, whose patches change no API."""
    return version_key(version)[:2]


def minor_between(version: str, low: str, high: str) -> bool:
    """Whether the major.minor of `version` lies in a range, bounds included."""
    return minor_key(low) <= minor_key(version) <= minor_key(high)


def covers(rule: Mapping[str, Any], release: str) -> bool:
    """Whether a release lies in a rule's range: from `since` on, and before `before`; both may be absent."""
    key = version_key(release)
    return ("since" not in rule or version_key(rule["since"]) <= key) and (
        "before" not in rule or key < version_key(rule["before"])
    )
