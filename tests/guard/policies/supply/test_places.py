"""Places that look like allowed ones are compared part by part; what is not written plainly is no place."""

from __future__ import annotations

import dataclasses

import pytest

from poolsmith.guard.policies.supply.supply_check import (
    allows_image,
    git_address,
    git_entries,
    image_place,
    revision_matches,
    web_address,
)
from poolsmith.guard.policies.supply.supply_kind import AllowedGit, SupplySpec

SPEC = SupplySpec(
    image_registries=("nvcr.io/nvidia", "registry.example.com:5000", "docker.io/library/busybox"),
    mirrors={"nvcr.io": ("mirror.example.com/nvcr",)},
)
DIGEST = "sha256:" + "0" * 64
INSIDE = (
    "nvcr.io/nvidia/driver",
    "nvcr.io/nvidia/driver:550.90.07",
    f"nvcr.io/nvidia/cloud-native/k8s-driver-manager@{DIGEST}",
    f"nvcr.io/nvidia/driver:550@{DIGEST}",
    "registry.example.com:5000/anything/below",
    "busybox",
    "busybox:1.37",
    "library/busybox",
    "docker.io/busybox",
    "index.docker.io/library/busybox",
    "mirror.example.com/nvcr/nvidia/driver:550",
)
OUTSIDE = (
    "nvcr.io.evil.example/nvidia/driver",
    "nvcr.io@evil.example/nvidia/driver",
    "nvcr.io/nvidia-evil/driver",
    "nvcr.io/nvidiaevil",
    "nvcr.io/evil/nvidia/driver",
    "nvcr.io/driver",
    "nvcr.io:5000/nvidia/driver",
    "nvcr.io:443/nvidia/driver",
    "NVCR.io/nvidia/driver",
    "nvcr.io./nvidia/driver",
    "nvcr.io/nvidia/../evil/driver",
    "nvcr.io/nvidia/./driver",
    "nvcr.io//nvidia/driver",
    "nvcr.io/nvidia/%2e%2e/evil",
    "nvcr.io/nvidia%2fdriver",
    "nvcr.io/Nvidia/driver",
    "https://nvcr.io/nvidia/driver",
    "user:pass@nvcr.io/nvidia/driver",
    "nvcr.io\\@evil.example/nvidia/driver",
    "nvcr.io/nvidia/driver:550:evil",
    "nvcr.io/nvidia/driver@evil",
    "nvcr.io/nvidia/driver ",
    " nvcr.io/nvidia/driver",
    "nvcr.io/nvidia/driver\n",
    "nvcr.io/nvidia/drіver",
    "xn--nvcr-abc.io/nvidia/driver",
    "nvсr.io/nvidia/driver",
    "registry.example.com/anything",
    "registry.example.com:5001/anything",
    "nvidia/driver",
    "evil/busybox",
    "busybox/evil",
    "mirror.example.com/nvcrevil/nvidia/driver",
    "mirror.example.com/nvidia/driver",
    "mirror.example.com/nvcr/evil/driver",
    "localhost/nvidia/driver",
    "",
    "/nvcr.io/nvidia/driver",
    "nvcr.io/nvidia/" + "a" * 900,
)


@pytest.mark.parametrize("image", INSIDE)
def test_images_of_the_registries_are_inside(image):
    assert allows_image(SPEC, image)


@pytest.mark.parametrize("image", OUTSIDE)
def test_what_only_looks_like_them_is_outside(image):
    assert not allows_image(SPEC, image)


def test_the_bare_registry_is_no_image_of_it():
    assert image_place("nvcr.io") == image_place("docker.io/library/nvcr.io")


ADDRESSES = {
    "https://git.example.com/gpu.git": "https://git.example.com/gpu.git",
    "https://git.example.com/gpu.git/": "https://git.example.com/gpu.git",
    "ssh://git@git.example.com/gpu.git": "ssh://git@git.example.com/gpu.git",
    "git@git.example.com:gpu.git": "git@git.example.com:gpu.git",
    "https://token@git.example.com/gpu.git": None,
    "https://git.example.com/gpu.git?ref=x": None,
    "https://git.example.com/gpu.git#x": None,
    "https://git.example.com/../gpu.git": None,
    "https://git.example.com//gpu.git": None,
    "https://git.example.com/%67pu.git": None,
    "https://GIT.example.com/gpu.git": None,
    "https://git.example.com./gpu.git": None,
    "https://git.example.com:0443/gpu.git": None,
    "HTTPS://git.example.com/gpu.git": None,
    "http://git.example.com/gpu.git": None,
    "file:///gpu.git": None,
    "https://git.example.com/gpu.git\n": None,
    "ssh://git:pw@git.example.com/gpu.git": None,
    "git@git.example.com:../gpu.git": None,
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_has_one_spelling(text):
    assert git_address(text) == ADDRESSES[text]
    if text.startswith("https") and ADDRESSES[text] is not None:
        assert web_address(text) == ADDRESSES[text]


@pytest.mark.parametrize(
    ("pattern", "revision", "fits"),
    [
        ("refs/heads/main", "refs/heads/main", True),
        ("refs/heads/main", "refs/heads/main2", False),
        ("refs/heads/main", "refs/tags/main", False),
        ("refs/tags/v*", "refs/tags/v1.2", True),
        ("refs/tags/v*", "refs/tags/v1/evil", False),
        ("refs/heads/*", "refs/heads/..", False),
        ("refs/heads/*", "refs/heads/a..b", False),
        ("a" * 40, "a" * 40, True),
        ("a" * 40, "b" * 40, False),
    ],
)
def test_revisions_are_compared_part_by_part(pattern, revision, fits):
    assert revision_matches(pattern, revision) is fits


def test_an_entry_that_names_a_cluster_counts_for_it_alone():
    url = "https://git.example.com/gpu.git"
    every = AllowedGit(url=url, revisions=("refs/heads/main",))
    prod = dataclasses.replace(every, revisions=("refs/tags/v*",), clusters=("prod",))
    spec = SupplySpec(git_repositories=(every, prod))
    assert git_entries(spec, "lab", url) == (every,)
    assert git_entries(spec, "prod", url) == (prod,)
    assert git_entries(spec, "lab", "https://git.example.com/gpu") == ()
