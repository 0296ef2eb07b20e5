"""Which driver fits: what profiles, strangers' files and the operator's own checks all ask."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.drivers.driver_image import branch_of, is_branch, is_full, is_left_out, is_version, nearest_listed
from poolsmith.gpu.drivers.driver_support import (
    begins_with,
    chosen_by,
    ended_with,
    field_value,
    module_field,
    needs_open_modules,
    written,
    wrong_modules,
)

CATALOG = Catalog()
IMAGES = CATALOG.driver_images
ARCHITECTURES = CATALOG.gpus.architectures


@pytest.mark.parametrize(
    ("version", "forms", "branch"),
    [
        ("580", (True, False, True), 580),
        ("580.126", (False, True, True), 580),
        ("580.126.20", (False, True, True), 580),
        ("550.90.07-grid", (False, False, False), 550),
        ("535-5.15.0-70-generic", (False, False, False), 535),
        ("5350", (False, False, False), None),
        ("sha256:0", (False, False, False), None),
        ("\N{ARABIC-INDIC DIGIT FIVE}80", (False, False, False), None),
        ("", (False, False, False), None),
    ],
)
def test_forms_of_a_version(version, forms, branch):
    assert (is_branch(version), is_full(version), is_version(version)) == forms
    assert branch_of(version) == branch


@pytest.mark.parametrize(
    ("version", "needed"),  # golang.org/x/mod/semver Compare, which the operator asks
    [
        ("2.17.5", True),
        ("v2.17.5", True),
        ("2.26.6", True),
        ("v3", True),
        ("2.17.4", False),
        ("2.17.5-rc1", False),
        ("2.17.6-rc1", True),
        ("latest", False),
        ("02.17.5", False),
        ("sha256:0", True),
    ],
)
def test_nvidia_fs_needs_open_modules_from_a_version_on(version, needed):
    assert needs_open_modules(version, "v2.17.5") is needed


@pytest.mark.parametrize(
    ("architecture", "chosen", "version", "release", "wrong"),
    [
        ("blackwell", "open", "580.126.20", "v26.3.3", None),
        ("blackwell", "proprietary", "580.126.20", "v26.3.3", "open"),
        ("blackwell", "", None, "v26.3.3", None),
        ("blackwell", "", "550.90.07", "v26.3.3", "open"),
        ("blackwell", "", "580.126.20", "v24.9.2", "open"),
        ("volta", "open", "580.126.20", "v26.3.3", "proprietary"),
        ("volta", "auto", "580.126.20", "v26.3.3", None),
        ("ampere", "proprietary", "580.126.20", "v26.3.3", None),
    ],
)
def test_kernel_modules_of_a_gpu(architecture, chosen, version, release, wrong):
    found = wrong_modules(ARCHITECTURES[architecture], chosen, version, release=release, images=IMAGES)

    assert found == wrong


@pytest.mark.parametrize(("release", "value", "text"), [("v25.3.4", "open", "open"), ("v24.9.2", True, "true")])
def test_the_field_of_a_release_chooses_open_modules(release, value, text):
    field = module_field(release)

    assert (field_value(field, "open"), written(field, "open")) == (value, text)
    assert chosen_by(field, value) == "open"


def test_a_driver_supports_a_gpu_from_a_first_version_to_a_last_branch():
    volta = ARCHITECTURES["volta"]

    assert [ended_with(volta, branch) for branch in (None, volta.last_branch, volta.last_branch + 1)] == [
        None,
        None,
        580,
    ]
    assert begins_with("570.86.15", "550.90.07", 550) == "570.86.15"
    assert begins_with("570.86.15", "570", 570) is None
    assert begins_with(None, "550", 550) is begins_with("570.86.15", "450-mine", None) is None


def test_a_list_of_precompiled_drivers_names_the_nearest_where_it_lacks_one():
    line = next(iter(IMAGES.precompiled))
    row = IMAGES.precompiled[line][0]
    kernel = f"{row.kernel}.0-1-{row.flavours[0]}"

    def nearest(**other):
        facts = {"line": line, "os_tag": row.os_tag, "kernel": kernel, "branch": row.branches[0]}
        return nearest_listed(IMAGES, **facts | other)

    assert nearest() == nearest(kernel="") == nearest(branch=None) == nearest(line="1.0") == ()
    assert row in nearest(branch=100)
    assert nearest(os_tag="mylinux7") == IMAGES.precompiled[line]


def test_containers_that_were_never_built():
    assert is_left_out(IMAGES, "ubuntu26.04", "550.90.07", 550)
    assert not is_left_out(IMAGES, "mylinux7", "550.90.07", 550)
