"""A driver's version and the tag of its image, and which images are published, from a list.

A version is a branch like `580`, or full like `580.126.20`. A tag has the version, the kernel where the driver is
precompiled, and the operating system.

Source: NVIDIA/gpu-operator:controllers/state_manager.go for a ClusterPolicy, internal/state/nodepool.go for an
NVIDIADriver. Both go by one rule in each release, which the catalog has as `osTagMajors`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.driver_images import DriverImages, PrecompiledRow
    from poolsmith.gpu.catalog.platforms import OperatingSystemEntry
    from poolsmith.gpu.catalog.releases import Release


_BRANCH = pattern(r"\d{3}", re.ASCII)
_ANY = pattern(r"\d{3}(\.\d+){0,3}", re.ASCII)
_FULL = pattern(r"\d{3}\.\d+(\.\d+)?", re.ASCII)


def is_branch(version: str) -> bool:
    """As in the tags of precompiled drivers."""
    return _BRANCH.fullmatch(version) is not None


def is_full(version: str) -> bool:
    """As in the tags of drivers that are compiled on the node."""
    return _FULL.fullmatch(version) is not None


def is_version(version: str) -> bool:
    """A branch, all of a version, or what lies between."""
    return _ANY.fullmatch(version) is not None


def branch_of(version: str) -> int | None:
    """None for a digest, and for what is no version."""
    first = version.partition(".")[0].partition("-")[0]
    return int(first) if is_branch(first) else None


DIGEST = "sha256:"
_SHOWN = 40
_LONGEST_NUMBER = 18
"""More digits are out of the range of the operator's numbers: it stops there as well."""
_NUMBER = pattern(r"[+-]?\d+", re.ASCII)


class UnreadableVersionError(ValueError):
    """A release compares the major version of a system, and it is no number. `major` is what stands in its place.

    As a text it is what the operator says; `explanation` is that for people. `raw`: the release reads it as it stands.
    """

    def __init__(self, major: str, *, os_id: str, version: str, release: str, raw: bool = False) -> None:
        empty = not major and not raw
        super().__init__("empty OS major version" if empty else f'strconv.Atoi: parsing "{major}": invalid syntax')
        self.named = not empty
        self.major = major
        self.explanation = (
            f"the operator {release} reads the major version of {os_id} as a number, and stops at nodes of version "
            f"`{version[:_SHOWN]}`"
        )


def os_tag(os_id: str, version: str, release: str) -> str:
    """`ubuntu22.04`, or `rhel9` where the release goes by the major version. Raises UnreadableVersionError."""
    behaviour = behaviour_at(release)
    rule = next((rule for rule in behaviour["osTagMajors"] if rule["id"] == os_id), None)
    major = version.partition(".")[0]
    if behaviour["osMajorsOfAll"] and not _is_number(major):
        raise UnreadableVersionError(major, os_id=os_id, version=version, release=release, raw=True)
    if rule is None:
        return f"{os_id}{version}"
    if "from" in rule:
        digits = major.strip().removeprefix("v").removeprefix("V")
        if not _is_number(digits):
            raise UnreadableVersionError(digits, os_id=os_id, version=version, release=release)
        if int(digits) < rule["from"]:
            return f"{os_id}{version}"
    return f"{os_id}{major}"


def _is_number(digits: str) -> bool:
    return len(digits) <= _LONGEST_NUMBER and _NUMBER.fullmatch(digits) is not None


def built_for(image: str, os_tag: str, kernel: str | None = None) -> str:
    """The image of one operating system, and of one kernel with a precompiled driver; a digest says which by itself."""
    named = image if kernel is None else f"{image}-{kernel}"
    return named if DIGEST in named else f"{named}-{os_tag}"


_KERNEL = pattern(r"(?P<minor>\d+\.\d+)\.\d+-\d+-(?P<flavour>[a-z][a-z0-9-]*)\Z")


def has_containers(system: OperatingSystemEntry | None) -> bool | None:
    """Whether NVIDIA publishes driver containers for a system; None where no source says it."""
    if system is None or system.driver not in ("container", "unknown"):
        return False
    return True if system.driver == "container" else None


def has_precompiled(release: Release, arch: str) -> bool:
    """Whether NVIDIA's precompiled drivers exist for a processor."""
    return arch in release.precompiled_arch


def is_left_out(images: DriverImages, os_tag: str, version: str, branch: int | None) -> bool:
    """Whether it is known that no container of a driver was built for a system."""
    known = images.compiled_on(os_tag)
    return known is not None and (_is_before(branch, known.from_branch) or version in known.without)


def _is_before(branch: int | None, first: int | None) -> bool:
    return branch is not None and first is not None and branch < first


def nearest_listed(
    images: DriverImages, *, line: str, os_tag: str, kernel: str, branch: int | None
) -> tuple[PrecompiledRow, ...]:
    """What a line lists instead of a precompiled driver that it lacks; empty where it has it, or nobody can tell.

    Rows of the same system, or all where none is of it.
    """
    rows = images.precompiled.get(line, ())
    if not kernel or branch is None or any(_lists(row, os_tag, kernel, branch) for row in rows):
        return ()
    return tuple(row for row in rows if row.os_tag == os_tag) or rows


def _lists(row: PrecompiledRow, os_tag: str, kernel: str, branch: int) -> bool:
    match = _KERNEL.match(kernel)
    return (
        match is not None
        and (row.os_tag, row.kernel) == (os_tag, match["minor"])
        and branch in row.branches
        and match["flavour"] in row.flavours
    )
