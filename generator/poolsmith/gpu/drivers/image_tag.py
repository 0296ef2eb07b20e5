"""The tag of a driver's image: its version, the kernel where the driver is precompiled, and the operating system.

Source: NVIDIA/gpu-operator:controllers/state_manager.go for a ClusterPolicy, internal/state/nodepool.go for an
NVIDIADriver. Both go by one rule in each release, which the catalog has as `osTagMajors`.
"""

from __future__ import annotations

import re

from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

DIGEST = "sha256:"
_SHOWN = 40
_LONGEST_NUMBER = 18
"""More digits are out of the range of the operator's numbers: it stops there as well."""
_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


class UnreadableVersionError(ValueError):
    """A release compares the major version of a system, and it is no number. `major` is what stands in its place.

    As a text it is what the operator says; `told` is the same for people. `raw`: the release reads it as it stands.
    """

    def __init__(self, major: str, *, os_id: str, version: str, release: str, raw: bool = False) -> None:
        empty = not major and not raw
        super().__init__("empty OS major version" if empty else f'strconv.Atoi: parsing "{major}": invalid syntax')
        self.named = not empty
        self.major = major
        self.told = (
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
