"""The images of driver pods."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases

driver, node, expanded, errors = cases.driver, cases.node, cases.expanded, cases.errors
pod, container = cases.pod, cases.container
RELEASES, NEWEST = cases.RELEASES, cases.NEWEST
SYNCING = "Error syncing state state-driver: failed to create k8s objects from manifests: "
MANAGER = "k8s-driver-manager"
MODULE = {"enabled": True, "repository": "r.io/nvidia", "version": "v1"}
DIGEST = "sha256:" + "a" * 64


def test_a_digest_says_which_system_an_image_is_for():
    assert container(pod(driver(version=DIGEST)))["image"] == f"nvcr.io/nvidia/driver@{DIGEST}"


@pytest.mark.parametrize("release", RELEASES)
def test_an_image_alone_is_the_whole_reference(release):
    resource = driver(repository="", version="", image="nvcr.io/nvidia/driver")

    assert container(pod(resource, release=release))["image"] == "nvcr.io/nvidia/driver-ubuntu22.04"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"repository": "", "image": "", "version": ""},
            (
                "failed to get driver image path: failed to get image path from crd: "
                "empty image path provided through both CR and ENV "
            ),
        ),
        (
            {"usePrecompiled": True, "version": DIGEST},
            "failed to get driver image path: specifying image digest is not supported when precompiled is enabled",
        ),
        (
            {"image": "malformed?image"},
            (
                "failed to get driver image path: failed to parse driver image path: "
                'invalid reference "nvcr.io/nvidia/malformed?image:595.91.07-ubuntu22.04"'
            ),
        ),
        (
            {"image": "Driver"},
            (
                "failed to get driver image path: failed to parse driver image path: "
                'invalid reference "nvcr.io/nvidia/Driver:595.91.07-ubuntu22.04", repo must be lowercase'
            ),
        ),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_an_image_that_cannot_be_is_told(release, spec, message):
    found = errors(expanded([driver(**spec)], [node(kernel="6.8.0-45-generic")], release=release))
    told = f"{SYNCING}failed to construct driver spec: {message}"

    assert found == {"pool": ("notReady", "ReconcileFailed", told)}


@pytest.mark.parametrize("release", RELEASES)
def test_a_reference_of_which_parts_are_missing_is_refused_by_the_newest_release(release):
    resource = driver(repository="", image="nvcr.io/nvidia/driver")
    found = errors(expanded([resource], release=release))
    start = f"{SYNCING}failed to construct driver spec: failed to get driver image path: "
    refused = (
        "failed to get image path from crd: invalid image specification: repository, image and version must all be "
        "set (repository=, image=nvcr.io/nvidia/driver, version=595.91.07)"
    )
    malformed = 'failed to parse driver image path: invalid reference "/nvcr.io/nvidia/driver:595.91.07-ubuntu22.04"'

    assert found["pool"][2] == start + (refused if release == NEWEST else malformed)


@pytest.mark.parametrize(("module", "title"), [("gds", "GDS"), ("gdrcopy", "GDRCopy")])
def test_the_images_of_modules_are_for_the_system_too(module, title):
    name = {"gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}[module]
    found = pod(driver(kernelModuleType="open", **{module: {**MODULE, "image": "module"}}))
    broken = driver(kernelModuleType="open", **{module: {"enabled": True}})

    assert container(found, name)["image"] == "r.io/nvidia/module:v1-ubuntu22.04"
    assert errors(expanded([broken]))["pool"][2].startswith(f"{SYNCING}failed to construct {title} spec: failed to get")


def test_the_manager_is_that_of_the_resource():
    manager = {"repository": "r.io", "image": "manager", "version": "v9"}

    assert container(pod(driver(manager=manager)), MANAGER)["image"] == "r.io/manager:v9"


def test_a_manager_of_which_parts_are_missing_is_refused():
    found = errors(expanded([driver(manager={"repository": "r.io"})]))

    assert found["pool"][2] == (
        f"{SYNCING}failed to construct driver spec: failed to construct image path for driver manager: invalid image "
        "specification: repository, image and version must all be set (repository=r.io, image=, version=)"
    )


def test_else_it_is_the_one_that_the_operator_was_installed_with():
    asked = {"driver": {"useNvidiaDriverCRD": True, "manager": {"repository": "p.io", "image": "m", "version": "v1"}}}
    variable = {"name": "DRIVER_MANAGER_IMAGE", "value": "o.io/manager:v2"}
    operator = {
        "kind": "Deployment",
        "metadata": {"name": "gpu-operator", "namespace": "gpu-operator"},
        "spec": {"template": {"spec": {"containers": [{"name": "gpu-operator", "env": [variable]}]}}},
    }
    environment = {"DRIVER_MANAGER_IMAGE": "e.io/manager:v3"}

    def image(**options):
        return container(pod(driver(), **options), MANAGER)["image"]

    assert image() == "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.12.0"
    assert image(policy=asked) == "p.io/m:v1"
    assert image(policy=asked, objects=[operator]) == "o.io/manager:v2"
    assert image(policy=asked, objects=[operator], operator_environment=environment) == "e.io/manager:v3"
    assert errors(expanded([driver()], operator_environment={}))["pool"][2].endswith(
        "empty image path provided through both CR and ENV DRIVER_MANAGER_IMAGE"
    )


def test_an_operator_without_the_variable_is_unknown():
    operator = {"kind": "Deployment", "metadata": {"name": "gpu-operator"}, "spec": {"template": {"spec": 1}}}

    assert expanded([driver()], objects=[operator]).unknown == (
        "NVIDIADriver/pool: an operator without DRIVER_MANAGER_IMAGE",
    )
