"""Files that NVIDIADriver objects bring into their pods."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases

driver, node = cases.driver, cases.node
pod, container, config_map = cases.pod, cases.container, cases.config_map
RELEASES, NEWEST = cases.RELEASES, cases.NEWEST
UBUNTU_ETC = "/etc/apt/sources.list.d"


def files(found, *, beside="nvidia-driver-ctr", release=NEWEST):
    """Own mounts of a container, and own volumes of its pod: those that follow the operator's."""
    usual = pod(driver(), release=release)
    names = {volume["name"] for volume in usual["volumes"]}
    mounts = [item for item in container(found, beside)["volumeMounts"] if item["name"] not in names]
    return mounts, [volume for volume in found["volumes"] if volume["name"] not in names]


def test_a_config_map_becomes_files_of_every_container():
    resource = driver(repoConfig={"name": "repo"}, rdma={"enabled": True})
    found = pod(resource, objects=[config_map("repo", "b.list", "a.list")])
    mounts, volumes = files(found)

    assert mounts == [
        {"name": "repo", "mountPath": f"{UBUNTU_ETC}/{file}", "readOnly": True, "subPath": file}
        for file in ("a.list", "b.list")
    ]
    items = [{"key": file, "path": file} for file in ("a.list", "b.list")]
    assert volumes == [{"name": "repo", "configMap": {"name": "repo", "items": items}}]
    assert files(found, beside="nvidia-peermem-ctr")[0] == mounts


@pytest.mark.parametrize(
    ("os_id", "packages", "certificates", "first"),
    [
        ("ubuntu", UBUNTU_ETC, "/usr/local/share/ca-certificates", "v24.6.1"),
        ("rhel", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v24.6.1"),
        ("centos", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v24.6.1"),
        ("debian", UBUNTU_ETC, "/usr/local/share/ca-certificates", "v26.3.3"),
        ("rocky", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v26.3.3"),
        ("sles", "/etc/zypp/repos.d", "/etc/pki/trust/anchors", "v26.3.3"),
        ("sl-micro", "/etc/zypp/repos.d", "/etc/pki/trust/anchors", "v26.3.3"),
        ("ol", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v26.7.0"),
        ("fedora", "", "", ""),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_folders_of_the_operating_system(release, os_id, packages, certificates, first):
    resource = driver(repoConfig={"name": "repo"}, certConfig={"name": "certs"})
    found = pod(
        resource,
        nodes=[node(os_id=os_id, version="9.4")],
        release=release,
        runtime="crio",
        objects=[config_map("repo", "x"), config_map("certs", "ca.pem")],
    )
    paths = [item["mountPath"] for item in container(found)["volumeMounts"] if item["name"] in ("repo", "certs")]
    known = first and RELEASES.index(release) >= RELEASES.index(first)

    assert paths == ([f"{packages}/x", f"{certificates}/ca.pem"] if known else [])


@pytest.mark.parametrize(
    ("os_id", "runtime", "paths"),
    [
        ("ubuntu", "containerd", []),
        ("rhel", "crio", []),
        ("rhel", "containerd", ["/etc/pki/entitlement", "/etc/yum.repos.d/redhat.repo", "/etc/rhsm"]),
        ("sles", "crio", ["/etc/SUSEConnect", "/etc/zypp/credentials.d"]),
        ("sl-micro", "containerd", ["/etc/SUSEConnect", "/etc/zypp/credentials.d"]),
    ],
)
def test_subscriptions_of_the_host(os_id, runtime, paths):
    found = pod(driver(), nodes=[node(os_id=os_id, version="9.4")], runtime=runtime)
    volumes = [item for item in found["volumes"] if item["name"].startswith("subscription-config-")]

    assert [item["hostPath"]["path"] for item in volumes] == paths
    assert [item["name"] for item in volumes] == [f"subscription-config-{number}" for number in range(len(paths))]


@pytest.mark.parametrize("release", RELEASES)
def test_a_repository_of_ones_own_replaces_red_hats_subscription_in_the_newest_release(release):
    found = pod(
        driver(repoConfig={"name": "repo"}),
        nodes=[node(os_id="rhel", version="9.4")],
        release=release,
        objects=[config_map("repo", "x")],
    )
    own = [item["name"] for item in found["volumes"] if item["name"].startswith(("repo", "subscription"))]

    assert own == ["repo"] + ([] if release == NEWEST else [f"subscription-config-{number}" for number in range(3)])


def test_a_precompiled_driver_gets_no_files_to_build_with():
    resource = driver(
        usePrecompiled=True,
        repoConfig={"name": "absent"},
        certConfig={"name": "absent"},
        kernelModuleConfig={"name": "m"},
    )
    found = pod(
        resource,
        nodes=[node(os_id="rhel", version="9.4", kernel="5.14.0")],
        objects=[config_map("m", "nvidia.conf")],
    )

    assert [item["mountPath"] for item in files(found)[0]] == ["/drivers/nvidia.conf"]


@pytest.mark.parametrize("block", ["repoConfig", "certConfig", "kernelModuleConfig"])
@pytest.mark.parametrize("release", RELEASES)
def test_one_missing_config_map_leaves_all_files_out_and_the_resource_ready(release, block):
    resource = driver(virtualTopologyConfig={"name": "topology"}, **{block: {"name": "absent"}})

    assert files(pod(resource, release=release), release=release) == ([], [])


@pytest.mark.parametrize("release", RELEASES)
def test_a_config_map_without_texts(release):
    found = pod(driver(kernelModuleConfig={"name": "empty"}), release=release, objects=[config_map("empty")])
    volumes = [item for item in found["volumes"] if item["name"] == "empty"]

    assert volumes == ([{"name": "empty"}] if release in RELEASES[:3] else [])


GRIDD = {
    "name": "licensing-config",
    "mountPath": "/drivers/gridd.conf",
    "readOnly": True,
    "subPath": "gridd.conf",
}
TOKEN = {
    "name": "licensing-config",
    "mountPath": "/drivers/ClientConfigToken/client_configuration_token.tok",
    "readOnly": True,
    "subPath": "client_configuration_token.tok",
}


@pytest.mark.parametrize(
    ("licensing", "mounts", "source"),
    [
        ({"name": "map"}, [GRIDD, TOKEN], {"configMap": {"name": "map"}}),
        ({"name": "map", "nlsEnabled": False}, [GRIDD], {"configMap": {"name": "map"}}),
        ({"name": "map", "secretName": "secret"}, [GRIDD, TOKEN], {"secret": {"secretName": "secret"}}),
        ({"nlsEnabled": True}, [], None),
    ],
)
def test_a_vgpu_guest_brings_its_licence(licensing, mounts, source):
    found = pod(driver(driverType="vgpu", licensingConfig=licensing))
    items = [{"key": item["subPath"], "path": item["subPath"]} for item in mounts]
    expected = [{"name": "licensing-config", **{key: {**body, "items": items} for key, body in (source or {}).items()}}]

    assert files(found) == (mounts, expected if source else [])


@pytest.mark.parametrize("release", RELEASES)
def test_a_licence_in_a_secret_is_read_from_25_10_on(release):
    found = pod(driver(driverType="vgpu", licensingConfig={"secretName": "secret"}), release=release)
    names = [item["name"] for item in found["volumes"]]

    assert ("licensing-config" in names) == (release in RELEASES[3:])


def test_the_topology_comes_last():
    resource = driver(virtualTopologyConfig={"name": "topology"}, licensingConfig={"name": "map"})
    mounts, volumes = files(pod(resource))
    file = "nvidia-topologyd.conf"

    assert mounts[-1]["mountPath"] == f"/etc/nvidia/{file}"
    assert volumes[-1] == {
        "name": "topology-config",
        "configMap": {"name": "topology", "items": [{"key": file, "path": file}]},
    }
