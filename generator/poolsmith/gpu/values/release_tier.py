"""By which releases the values of an installation are judged: its own, the newest that it may be, or all.

A version is *pinned* where one release is told, *floating* where the newest one is taken whichever that is, and
*unknown* where another tool puts it in, or nobody says it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import reach
from poolsmith.gpu.catalog.version_ranges import is_one_version, is_range, released_in

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from poolsmith.kubernetes.repository.delivered import ChartInstallation

FoundT = TypeVar("FoundT")
NEWEST = ("latest", "stable", "main", "master", "HEAD")
"""Words for a version that stand for another one each time."""


class Tier(StrEnum):
    PINNED = "pinned"
    FLOATING = "floating"
    UNKNOWN = "unknown"


@record
class JudgedBy:
    """`tags` are the releases that judge, newest first: one where it is known, all where it is not. None of them where
    the version is older or newer than all that are known."""

    tier: Tier
    tags: tuple[str, ...]
    said: str = ""
    is_older: bool = False

    @property
    def one(self) -> str | None:
        """The release, where one judges."""
        return self.tags[0] if self.tier is not Tier.UNKNOWN else None


def is_any(said: str) -> bool:
    """Whether a version that is written is no single one, and none that another tool puts in."""
    return said in NEWEST or (not is_one_version(said) and is_range(said))


def is_floating(item: ChartInstallation) -> bool:
    """Whether the version of a chart is whatever is newest on the day: none is written, a word, or a range."""
    if item.is_locked or not item.version_pointer:
        return False
    said = (item.version or "").strip()
    if said:
        return is_any(said)
    written, is_there = reach((item.version_document or item.document).data, item.version_pointer)
    return not is_there or written in (None, "")  # else a number, or a template that the reader left out


def is_of_vendor(repository: str | None) -> bool:
    """Whether a chart comes from its vendor, as far as anybody says: others may give it numbers of their own."""
    return repository is None or any(name in repository for name in _VENDORS)


_VENDORS = ("nvidia.com", "nvcr.io", "nvidia.github.io", "kubernetes-sigs")


def judged_by(said: str, tags: tuple[str, ...], *, floats: bool, is_vendors: bool = True) -> JudgedBy:
    """`said` is the version as it is written, `tags` are the known ones, oldest first; `floats`: see `is_floating`,
    `is_vendors`: see `is_of_vendor`."""
    said = said.strip()
    tag = next((tag for tag in (said, f"v{said}", said.removeprefix("v")) if tag in tags), None)
    newest_first = tags[::-1]
    if tag is not None:
        return JudgedBy(tier=Tier.PINNED, tags=(tag,), said=said)
    if floats:
        known = released_in(said, tags) if said not in ("", *NEWEST) else tags
        return JudgedBy(tier=Tier.FLOATING if known else Tier.UNKNOWN, tags=known[-1:], said=said)
    if is_one_version(said) and is_vendors:
        key = version_key(said)[:3]
        is_older, is_newer = key < version_key(tags[0]), key > version_key(tags[-1])
        known = () if is_older or is_newer else newest_first
        return JudgedBy(tier=Tier.UNKNOWN, tags=known, said=said, is_older=is_older)
    return JudgedBy(tier=Tier.UNKNOWN, tags=newest_first, said=said)


def said_alike(
    judge: Callable[[str], Iterable[FoundT]], tags: tuple[str, ...], key: Callable[[FoundT], Hashable]
) -> list[FoundT]:
    """What the newest release finds and each of the others too; nobody is asked as soon as nothing is left.

    `tags` have the newest first. The oldest is asked second: it differs most.
    """
    newest, *others = tags
    left = {key(item): item for item in judge(newest)}
    for tag in (*others[-1:], *others[:-1]):
        if not left:
            break
        said = set(map(key, judge(tag)))
        left = {place: item for place, item in left.items() if place in said}
    return list(left.values())
