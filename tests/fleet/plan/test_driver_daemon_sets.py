"""What the operator makes of the drivers of pools: images by system and release, and who lands where."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions

RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
WITH_SECRETS = ("v25.10.1", "v26.3.3", "v26.7.0")
OWN = "repository: registry.example.com/gpu"
COMPILED = f"{{source: container, version: 570.133.20, {OWN}}}"
PRECOMPILED = f'{{source: precompiled, version: "570", {OWN}}}'
KERNEL_LABEL = "feature.node.kubernetes.io/kernel-version.full"

# gpu-operator.md 2.4 by release: up to 25.10, 26.3.3, 26.7.0
OS_TAGS = {
    ("ubuntu", "22.04"): ("ubuntu22.04", "ubuntu22.04", "ubuntu22.04"),
    ("ubuntu", "26.04"): ("ubuntu26.04", "ubuntu26.04", "ubuntu26.04"),
    ("debian", "12"): ("debian12", "debian12", "debian12"),
    ("sles", "15.6"): ("sles15.6", "sles15.6", "sles15.6"),
    ("sl-micro", "6.1"): ("sl-micro6.1", "sl-micro6.1", "sl-micro6.1"),
    ("rhel", "8.10"): ("rhel8.10", "rhel8.10", "rhel8"),
    ("rhel", "9.4"): ("rhel9.4", "rhel9.4", "rhel9"),
    ("rhel", "10.0"): ("rhel10.0", "rhel10", "rhel10"),
    ("rocky", "8.10"): ("rocky8.10", "rocky8", "rocky8"),
    ("rocky", "9.4"): ("rocky9.4", "rocky9", "rocky9"),
    ("rocky", "10.1"): ("rocky10.1", "rocky10", "rocky10"),
    ("ol", "9.4"): ("ol9.4", "ol9.4", "ol9"),
}


@pytest.fixture(scope="module")
def predictions():
    return Predictions(Catalog())


@pytest.fixture
def driver_sets(resolve, predictions):
    """The driver DaemonSets of a cluster: image, selector, and the pools whose nodes they land on."""

    def run(pools, release="v26.3.3", mode="nvidia-driver"):
        outcome = resolve({"stack": f"{{release: {release}, driverMode: {mode}}}"}, pools)
        assert outcome.plan is not None, [item.message for item in outcome.diagnostics]
        prediction = predictions.of(outcome.plan, outcome.loaded)
        found = []
        for item in prediction.installation.made:
            template = item.body.get("spec", {}).get("template", {}).get("spec", {})
            for container in template.get("containers", ()):
                if container["name"] == "nvidia-driver-ctr":
                    landing = prediction.ledger.landing[item.key]
                    found.append((item.name, container["image"], template["nodeSelector"], landing))
        return found

    return run


def pool(name, version, driver=COMPILED, **more):
    return {"os": f'{{id: {name}, version: "{version}"}}', "driver": driver, **more}


@pytest.mark.rows(13, "each system and each release")
@pytest.mark.parametrize("mode", ["nvidia-driver", "cluster-policy"])
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("system", OS_TAGS, ids="-".join)
def test_plan_and_operator_agree_on_the_image_of_a_system(resolve, driver_sets, system, release, mode):
    early, middle, late = OS_TAGS[system]
    tag = {"v26.3.3": middle, "v26.7.0": late}.get(release, early)
    ((_, image, _, landing),) = driver_sets({"a": pool(*system)}, release, mode)

    assert image == f"registry.example.com/gpu/driver:570.133.20-{tag}"
    assert landing == ("a",)
    assert resolve({"stack": f"{{release: {release}}}"}, {"a": pool(*system)}).pool("a").driver.os_tags == (tag,)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("system", "kernels"),
    [
        (("rhel", "9.4"), ("5.14.0-570.el9_6.x86_64", "5.14.0-570.el9_6.aarch64")),
        (("ubuntu", "24.04"), ("6.8.0-60-generic", "6.8.0-60-generic")),
    ],
)
def test_one_kernel_on_two_processors_has_a_daemon_set_for_each_pool(driver_sets, release, system, kernels):
    pools = {
        name: pool(*system, PRECOMPILED, arch=arch, kernel=f"{{release: {kernel}}}")
        for name, arch, kernel in zip("ab", ("amd64", "arm64"), kernels, strict=True)
    }
    first, second = sorted(driver_sets(pools, release), key=lambda item: item[3])

    assert (first[3], second[3]) == (("a",), ("b",))
    assert first[0] != second[0]
    for (_, image, selector, _), kernel in zip((first, second), kernels, strict=True):
        assert f":570-{kernel}-{system[0]}" in image
        assert selector[KERNEL_LABEL] == kernel


@pytest.mark.parametrize("release", RELEASES)
def test_guests_beside_bare_metal_have_a_driver_of_their_own(driver_sets, release):
    licence = "licensingSecret" if release in WITH_SECRETS else "licensingConfigMap"
    guest = f"{{source: container, {OWN}, version: 550.90.07-grid, vgpu: {{{licence}: lic}}}}"
    pools = {"guests": pool("ubuntu", "22.04", guest), "metal": pool("ubuntu", "22.04")}
    found = {landing: image for _, image, _, landing in driver_sets(pools, release)}

    assert found == {
        ("guests",): "registry.example.com/gpu/driver:550.90.07-grid-ubuntu22.04",
        ("metal",): "registry.example.com/gpu/driver:570.133.20-ubuntu22.04",
    }


@pytest.mark.parametrize("release", RELEASES)
def test_guests_alone_have_the_drivers_licence_in_the_cluster_policy(resolve, predictions, release):
    licence = "licensingSecret" if release in WITH_SECRETS else "licensingConfigMap"
    guest = f"{{source: container, {OWN}, version: 550.90.07-grid, vgpu: {{{licence}: lic}}}}"
    outcome = resolve({"stack": f"{{release: {release}}}"}, {"a": {"driver": guest}})
    objects = predictions.of(outcome.plan, outcome.loaded).installation.objects
    (driver,) = [item for item in objects if item["metadata"]["name"] == "nvidia-driver-daemonset"]
    (volume,) = [item for item in driver["spec"]["template"]["spec"]["volumes"] if item["name"] == "licensing-config"]
    source = volume.get("secret") or volume["configMap"]

    assert ("secret" in volume) is (release in WITH_SECRETS)
    assert "lic" in (source.get("secretName"), source.get("name"))
    assert [item["key"] for item in source["items"]] == ["gridd.conf", "client_configuration_token.tok"]


@pytest.mark.parametrize(("source", "runs"), [("preinstalled", False), (None, False)])
def test_where_the_system_has_a_device_plugin_the_operators_does_not_run(resolve, predictions, source, runs):
    driver = "{source: preinstalled}" if source else None
    pools = {"a": pool("bottlerocket", "1.20", driver), "b": pool("ubuntu", "22.04", "{source: preinstalled}")}
    pools["b"]["toolkit"] = pools["a"]["toolkit"] = "{source: preinstalled}"
    outcome = resolve({}, pools)
    prediction = predictions.of(outcome.plan, outcome.loaded)
    (landing,) = [
        pools for key, pools in prediction.ledger.landing.items() if key.endswith("/nvidia-device-plugin-daemonset")
    ]

    assert ("a" in landing) is runs
    assert "b" in landing
