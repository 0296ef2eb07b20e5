"""The node pools of NVIDIADriver objects, and the objects of each pool."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases
from poolsmith.fleet.operands.nvidia_driver.node_pools import hash_of
from poolsmith.gpu.catalog.operands import read_nvidia_drivers
from poolsmith.gpu.catalog.releases import name_of_kernel

driver, node, expanded, errors, daemon_sets = cases.driver, cases.node, cases.expanded, cases.errors, cases.daemon_sets
RELEASES, NFD = cases.RELEASES, cases.NFD
OWNER = "nvidia.com/gpu-operator.driver.owner"
SYNCING = "Error syncing state state-driver: failed to create k8s objects from manifests: "
RHEL_KERNEL = "5.14.0-427.13.1.el9_4.x86_64"


# -- node pools


@pytest.mark.parametrize(
    ("os_id", "version", "tags"),
    [
        ("ubuntu", "24.04", ["ubuntu24.04"] * 3),
        ("rhel", "9.4", ["rhel9.4", "rhel9.4", "rhel9"]),
        ("rhel", "10.1", ["rhel10.1", "rhel10", "rhel10"]),
        ("rocky", "9.4", ["rocky9.4", "rocky9", "rocky9"]),
        ("ol", "9.4", ["ol9.4", "ol9.4", "ol9"]),
        ("sles", "15.6", ["sles15.6"] * 3),
        ("sl-micro", "6.0", ["sl-micro6.0"] * 3),
        ("debian", "12", ["debian12"] * 3),
    ],
)
def test_the_operating_system_of_images_and_names(os_id, version, tags):
    for release, tag in zip(("v25.10.1", "v26.3.3", "v26.7.0"), tags, strict=True):
        (found,) = daemon_sets(expanded([driver()], [node(os_id=os_id, version=version)], release=release))
        main = cases.container(found["spec"]["template"]["spec"])

        assert found["metadata"]["labels"]["nvidia.com/node.os-version"] == tag
        assert main["image"] == f"nvcr.io/nvidia/driver:595.91.07-{tag}"
        assert found["metadata"]["name"].startswith(f"nvidia-gpu-driver-{tag}-")


def test_a_pool_selects_its_system_and_what_the_resource_selects():
    (found,) = daemon_sets(expanded([driver(nodeSelector={"pool": "a"})], [node(pool="a")], release="v26.3.3"))

    assert found["spec"]["template"]["spec"]["nodeSelector"] == {
        "nvidia.com/gpu.deploy.driver": "true",
        "nvidia.com/gpu.present": "true",
        "pool": "a",
        f"{NFD}system-os_release.ID": "ubuntu",
        f"{NFD}system-os_release.VERSION_ID": "22.04",
    }


def test_the_newest_release_selects_by_owner_and_by_major_version():
    (found,) = daemon_sets(expanded([driver()], [node(os_id="rhel", version="9.4")]))

    assert found["spec"]["template"]["spec"]["nodeSelector"] == {
        "nvidia.com/gpu.deploy.driver": "true",
        "nvidia.com/gpu.present": "true",
        OWNER: "pool",
        f"{NFD}system-os_release.ID": "rhel",
        f"{NFD}system-os_release.VERSION_ID.major": "9",
    }


def test_a_version_that_is_the_major_one_already_selects_as_it_is():
    (found,) = daemon_sets(expanded([driver()], [node(os_id="rhel", version="10")]))

    assert found["spec"]["template"]["spec"]["nodeSelector"][f"{NFD}system-os_release.VERSION_ID"] == "10"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("label", ["ID", "VERSION_ID"])
def test_a_node_of_an_unknown_system_is_in_no_pool(release, label):
    unlabelled = node("n2", a="1")
    labels = {key: value for key, value in unlabelled.labels.items() if not key.endswith(f"os_release.{label}")}
    nodes = [node("n1"), cases.Node(name="n2", labels=labels)]

    assert len(daemon_sets(expanded([driver()], nodes, release=release))) == 1


def test_a_node_without_its_major_version_is_in_no_pool_that_selects_by_it():
    labels = {key: value for key, value in node(os_id="rhel", version="9.4").labels.items() if "major" not in key}

    assert daemon_sets(expanded([driver()], [cases.Node(name="n1", labels=labels)])) == []


@pytest.mark.parametrize("release", RELEASES)
def test_a_resource_without_nodes_is_an_error_before_26_3(release):
    expansion = expanded([driver(nodeSelector={"pool": "a"})], release=release)
    message = f"{SYNCING}no nodes matching the given node selector for pool"
    refused = {"pool": ("notReady", "ReconcileFailed", message)}

    assert errors(expansion) == (refused if release in RELEASES[:-2] else {})
    assert (expansion.objects, expansion.errors) == ((), ())


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("x.y", 'strconv.Atoi: parsing "x": invalid syntax'),
        (".4", "empty OS major version"),
    ],
)
def test_a_red_hat_version_that_is_no_number_fails_in_26_3_only(version, message):
    nodes = [node(os_id="rhel", version=version)]
    whole = f"{SYNCING}failed to get node pools: failed to get OS info for node node-1: failed to parse os version: "

    assert errors(expanded([driver()], nodes, release="v26.3.3"))["pool"][2] == whole + message
    assert errors(expanded([driver()], nodes, release="v25.10.1")) == {}


@pytest.mark.parametrize("release", RELEASES)
def test_precompiled_drivers_have_a_daemon_set_for_each_kernel(release):
    nodes = [
        node("n1", kernel="5.15.0-70-generic"),
        node("n2", kernel="6.8.0-45-generic"),
        node("n3", kernel="6.8.0-45-generic"),
        node("n4"),
    ]
    found = daemon_sets(expanded([driver(usePrecompiled=True, version="535")], nodes, release=release))
    pods = [item["spec"]["template"]["spec"] for item in found]

    assert sorted(item["nodeSelector"][f"{NFD}kernel-version.full"] for item in pods) == [
        "5.15.0-70-generic",
        "6.8.0-45-generic",
    ]
    assert sorted(cases.container(item)["image"] for item in pods) == [
        "nvcr.io/nvidia/driver:535-5.15.0-70-generic-ubuntu22.04",
        "nvcr.io/nvidia/driver:535-6.8.0-45-generic-ubuntu22.04",
    ]


def test_labels_carry_a_kernel_without_its_architecture_and_selectors_the_whole_one():
    nodes = [node(os_id="rhel", version="9.4", kernel=RHEL_KERNEL)]
    (found,) = daemon_sets(expanded([driver(usePrecompiled=True)], nodes))
    labels = found["spec"]["template"]["metadata"]["labels"]

    assert labels["nvidia.com/precompiled"] == "true"
    assert labels["nvidia.com/precompiled.kernel-version"] == "5.14.0-427.13.1.el9.4"
    assert found["spec"]["template"]["spec"]["nodeSelector"][f"{NFD}kernel-version.full"] == RHEL_KERNEL


@pytest.mark.parametrize(
    ("release", "kernel", "name"),
    [
        ("v24.6.1", "5.14.0-427.el9.aarch64_64k", "5.14.0-427.el9..64k"),
        ("v24.9.2", "5.14.0-427.el9.aarch64_64k", "5.14.0-427.el9"),
        ("v26.7.0", "6.8.0-45-Generic", "6.8.0-45-generic"),
    ],
)
def test_a_kernel_as_part_of_a_name(release, kernel, name):
    assert name_of_kernel(kernel, read_nvidia_drivers(release).behaviour["architectures"]) == name


# -- names and objects


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("bfac7359-6033-45ce-88d6-53db0078526e", "67cc6dbb79"),
        ("bfac7359-6033-45ce-88d6-53db0078526e-5.15.0-70-generic", "59b779bcc5"),
    ],
)
def test_a_hash_is_the_operators_own(identity, name):
    assert hash_of(identity) == name


def test_a_resource_without_a_uid_is_told_by_its_name():
    (found,) = daemon_sets(expanded([driver("pool")]))

    assert found["metadata"]["name"] == f"nvidia-gpu-driver-ubuntu22.04-{hash_of('pool')}"


def test_a_long_name_keeps_its_hash_and_63_characters():
    nodes = [node(os_id="redhatCoreOS", version="4.14-414.92.202309282257", kernel="5.15.0-70-generic")]
    resource = driver(uid="bfac7359-6033-45ce-88d6-53db0078526e", usePrecompiled=True)
    (found,) = daemon_sets(expanded([resource], nodes, release="v25.10.1"))

    assert found["metadata"]["name"] == "nvidia-gpu-driver-redhatCoreOS4.14-414.92.2023092822-59b779bcc5"


@pytest.mark.parametrize(
    ("kind", "account"),
    [
        ("gpu", "nvidia-gpu-driver-pool-ubuntu22.04"),
        ("vgpu", "nvidia-vgpu-driver-pool-ubuntu22.04"),
        ("vgpu-host-manager", "nvidia-vgpu-manager-pool-ubuntu22.04"),
    ],
)
def test_a_pool_has_an_account_with_roles_of_its_name(kind, account):
    expansion = expanded([driver(driverType=kind)])
    named = [(item["kind"], item["metadata"]["name"]) for item in expansion.objects if item["kind"] != "DaemonSet"]

    assert named == [
        ("ClusterRole", account),
        ("ClusterRoleBinding", account),
        ("ConfigMap", "nvidia-driver-startup-probe"),
        ("Role", account),
        ("RoleBinding", account),
        ("ServiceAccount", account),
    ]
    assert {item["subjects"][0]["name"] for item in expansion.objects if "subjects" in item} == {account}


@pytest.mark.parametrize("release", RELEASES)
def test_everything_belongs_to_its_resource(release):
    expansion = expanded([driver(uid="1")], release=release)
    owner = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "name": "pool",
        "uid": "1",
        "controller": True,
        "blockOwnerDeletion": True,
    }

    assert all(item["metadata"]["ownerReferences"] == [owner] for item in expansion.objects)
    assert {item["metadata"]["labels"]["nvidia.com/gpu-operator.state"] for item in expansion.objects} == {
        "state-driver"
    }


def test_pools_of_one_system_share_their_account():
    nodes = [node("n1", kernel="5.15.0-70-generic"), node("n2", kernel="6.8.0-45-generic")]
    expansion = expanded([driver(usePrecompiled=True)], nodes)
    kinds = [item["kind"] for item in expansion.objects]

    assert (kinds.count("DaemonSet"), kinds.count("ServiceAccount"), kinds.count("ConfigMap")) == (2, 1, 1)


def test_one_resource_that_fails_does_not_keep_another_from_its_nodes():
    drivers = [driver("bad", nodeSelector={"a": "1"}, image=""), driver("good", nodeSelector={"b": "2"})]
    expansion = expanded(drivers, [node("n1", a="1"), node("n2", b="2")])

    assert set(errors(expansion)) == {"bad"}
    assert {item["metadata"]["ownerReferences"][0]["name"] for item in expansion.objects} == {"good"}
