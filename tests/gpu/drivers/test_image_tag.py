"""What the operator names a node's system in the tag of a driver's image: each release, id and version there is."""

from __future__ import annotations

import re

import pytest

from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.gpu.drivers.driver_image import UnreadableVersionError, built_for, os_tag

RELEASES = tuple(sorted(operand_releases(), key=version_key))
LATER_26_3 = ("v26.3.1", "v26.3.2", "v26.3.3")
SYSTEMS = {
    "ubuntu": ("20.04", "22.04", "24.04", "26.04"),
    "debian": ("11", "12", "13"),
    "rhel": (
        "8.10",
        "9",
        "9.4",
        "09.4",
        "9.10",
        "v9.4",
        "V9",
        "vV9",
        " 9.4",
        "10",
        "10.0",
        "v10.1",
        "10-beta",
        "stream",
    ),
    "rocky": ("8.10", "9", "9.4", "10.0", "v9.4", "stream", ".4"),
    "ol": ("8.10", "9.4", "9", "10.1", "v9.4"),
    "centos": ("7", "8"),
    "rhcos": ("4.18", "9.6"),
    "sles": ("15.6", "15-SP6", "16.0"),
    "sl-micro": ("6.1",),
    "talos": ("v1.12.6", "1.9.0"),
    "bottlerocket": ("1.30.0",),
    "cos": ("121", "125.19216"),
    "amzn": ("2", "2023"),
    "flatcar": ("4230.2.0",),
    "fedora": ("42",),
    "mylinux": ("7", "7.1", "x.y", ""),
}
ALL = [(release, os_id, version) for release in RELEASES for os_id in SYSTEMS for version in SYSTEMS[os_id]]
UNREADABLE = {"10-beta", "stream"}
"""Of Red Hat's: NVIDIA/gpu-operator@v26.3.3, parseOSMajorVersion in both controllers."""


def expected(release, os_id, version):
    """NVIDIA/gpu-operator: getGPUNodeOSInfo and getOSTag at the tags; None where the operator stops."""
    major = version.split(".")[0]
    if at_least(release, "v26.7.0"):
        return os_id + (major if os_id in ("ol", "rocky", "rhel") else version)
    if release == "v26.3.0":  # of every system the major version is read as a number, as it stands
        if not re.fullmatch("[0-9]+", major):
            return None
        return os_id + (major if os_id == "rocky" or (os_id == "rhel" and int(major) >= 10) else version)
    if release in LATER_26_3 and os_id == "rocky":
        return os_id + major
    if release in LATER_26_3 and os_id == "rhel":
        if version in UNREADABLE:
            return None
        return os_id + (major if int(major.strip().removeprefix("v").removeprefix("V")) >= 10 else version)
    return os_id + version


def made(release, os_id, version):
    try:
        return os_tag(os_id, version, release)
    except UnreadableVersionError:
        return None


def test_every_release_names_every_system_as_its_operator_does():
    assert len(ALL) > 300
    assert {item: made(*item) for item in ALL} == {item: expected(*item) for item in ALL}


@pytest.mark.parametrize(
    ("image", "kernel", "ending"),
    [
        ("r/driver:580.1", None, "r/driver:580.1-rhel9"),
        ("r/driver:580", "5.14.0-1.x86_64", "r/driver:580-5.14.0-1.x86_64-rhel9"),
        ("r/driver@sha256:0", None, "r/driver@sha256:0"),
    ],
)
def test_an_image_ends_in_its_kernel_and_system_unless_a_digest_says_all(image, kernel, ending):
    assert built_for(image, "rhel9", kernel) == ending


@pytest.mark.parametrize(
    ("os_id", "version", "major_since"),
    [
        ("ubuntu", "22.04", None),
        ("debian", "12", None),
        ("sles", "15.6", None),
        ("rhel", "8.10", "v26.7.0"),
        ("rhel", "9.4", "v26.7.0"),
        ("rhel", "10.0", "v26.3.0"),
        ("rocky", "9.4", "v26.3.0"),
        ("ol", "9.4", "v26.7.0"),
    ],
)
def test_image_tags_name_the_system_as_each_release_does(os_id, version, major_since):
    major = version.split(".")[0]

    for release in RELEASES:
        is_major = major_since is not None and at_least(release, major_since)
        assert os_tag(os_id, version, release) == os_id + (major if is_major else version)
