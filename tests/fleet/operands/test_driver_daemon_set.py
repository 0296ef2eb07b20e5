"""The drivers of a ClusterPolicy: what values and nodes make of them, release by release."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.operands import scenarios
from poolsmith.fleet.operands.operator_expansion import expand

RELEASES = (
    *("v24.6.1", "v24.9.2", "v25.3.0", "v25.3.3", "v25.3.4", "v25.10.0", "v25.10.1"),
    *("v26.3.0", "v26.3.1", "v26.3.3", "v26.7.0"),
)
START = {
    **dict.fromkeys(RELEASES[:3], "Failed to initialize ClusterPolicy controller: "),
    **dict.fromkeys(RELEASES[3:7], "failed to initialize ClusterPolicy controller: "),
    **dict.fromkeys(RELEASES[7:], ""),
}
"""What stands before an error that stops the operator before its first step."""
NFD = "feature.node.kubernetes.io/"
POLICY = "ClusterPolicy/cluster-policy: "
UBUNTU_KERNEL, RHEL_KERNEL = "5.15.0-130-generic", "5.14.0-427.13.1.el9_4.x86_64"


def node(name="gpu-1", os_id="ubuntu", version="22.04", kernel=UBUNTU_KERNEL, **labels):
    stated = {
        f"{NFD}pci-10de.present": "true",
        f"{NFD}system-os_release.ID": os_id,
        f"{NFD}system-os_release.VERSION_ID": version,
        f"{NFD}kernel-version.full": kernel,
        **labels,
    }
    labels = {key: value for key, value in stated.items() if value is not None}
    return {"name": name, "labels": labels, "runtime": "containerd://1.7.24"}


def config_map(name, *keys):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict.fromkeys(keys, "text")}


def expanded(release, driver=None, *nodes, os_release="ID=ubuntu", objects=(), **values):
    inputs = {
        "values": {**values, "driver": driver or {}},
        "nodes": list(nodes) or [node()],
        "crs": [],
        "objects": list(objects),
        "osRelease": os_release or "",
    }
    recorded = {"tag": release, "inputs": inputs, "result": {"appliedCRs": []}}
    admitted = scenarios.admitted_resources(recorded)
    state = scenarios.cluster_state(recorded, admitted, lambda item: item["labels"], {})
    return expand(release, state if os_release else replace(state, os_release=None))


def drivers(expansion, prefix="nvidia-driver-daemonset"):
    found = [item for item in expansion.objects if item["kind"] == "DaemonSet"]
    return {item["metadata"]["name"]: item for item in found if item["metadata"]["name"].startswith(prefix)}


def pod(expansion):
    (found,) = drivers(expansion).values()
    return found["spec"]["template"]["spec"]


def container(expansion, name="nvidia-driver-ctr"):
    containers = pod(expansion)
    return next(item for item in (*containers["initContainers"], *containers["containers"]) if item["name"] == name)


def variables(found):
    return {item["name"]: item.get("value") for item in found.get("env", ())}


def mounted(found, *names):
    return [(item["name"], item["mountPath"]) for item in found["volumeMounts"] if item["name"].startswith(names)]


def own_volumes(expansion, *names):
    return [item for item in pod(expansion)["volumes"] if item["name"].startswith(names)]


def image_tag(expansion):
    return container(expansion)["image"].rpartition(":")[2]


def since(release):
    return RELEASES[RELEASES.index(release) :]


# -- operating systems


@pytest.mark.parametrize(
    ("os_id", "version", "tags"),  # NVIDIA/gpu-operator:controllers/state_manager.go getGPUNodeOSInfo
    [
        ("ubuntu", "24.04", ["ubuntu24.04"] * 11),
        ("rhel", "9.4", ["rhel9.4"] * 10 + ["rhel9"]),
        ("rhel", "10.1", ["rhel10.1"] * 7 + ["rhel10"] * 4),
        ("rocky", "9.5", ["rocky9.5"] * 7 + ["rocky9"] * 4),
        ("ol", "9.4", ["ol9.4"] * 10 + ["ol9"]),
        ("sles", "15-SP6", ["sles15-SP6"] * 7 + [None] + ["sles15-SP6"] * 3),
        ("talos", "v1.12.6", ["talosv1.12.6"] * 7 + [None] + ["talosv1.12.6"] * 3),
    ],
)
def test_the_operating_system_ends_the_tag(os_id, version, tags):
    made = [expanded(release, {"version": "1"}, node(os_id=os_id, version=version)) for release in RELEASES]

    assert [None if item.errors else image_tag(item) for item in made] == [tag and f"1-{tag}" for tag in tags]


def test_v26_3_0_reads_the_major_version_of_every_system_as_a_number():
    # NVIDIA/gpu-operator@v26.3.0:controllers/state_manager.go getGPUNodeOSTag
    (error,) = expanded("v26.3.0", {"version": "1"}, node(os_id="talos", version="v1.12.6")).errors

    number = 'error processing OS major version v1: strconv.Atoi: parsing "v1": invalid syntax'
    assert error == f"{POLICY}failed to retrieve GPU node OS tag: {number}"


@pytest.mark.parametrize(
    ("version", "problem"),  # NVIDIA/gpu-operator@v26.3.3:controllers/state_manager.go parseOSMajorVersion
    [
        (".4", "empty OS major version"),
        ("10-beta", 'error processing OS major version 10-beta: strconv.Atoi: parsing "10-beta": invalid syntax'),
    ],
)
def test_a_red_hat_version_that_is_no_number_stops_the_policy_in_26_3_only(version, problem):
    (error,) = expanded("v26.3.3", {"version": "1"}, node(os_id="rhel", version=version)).errors

    assert error.endswith(f"failed to retrieve GPU node OS info: {problem}")
    for release in ("v25.10.1", "v26.7.0"):
        assert not expanded(release, {"version": "1"}, node(os_id="rhel", version=version)).errors


def test_a_red_hat_version_may_begin_with_the_letter_v():
    tags = [
        image_tag(expanded("v26.3.3", {"version": "1"}, node(os_id="rhel", version=item))) for item in ("v9.4", "v10.1")
    ]

    assert tags == ["1-rhelv9.4", "1-rhelv10"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_first_node_decides_for_all_and_that_is_said(release):
    both = node("a", "rhel", "9.4", RHEL_KERNEL), node("b")
    made = expanded(release, {"version": "1"}, *both)

    assert image_tag(made).startswith("1-rhel9")
    assert [note for note in made.notes if "several operating systems" in note]


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_without_a_version_has_no_tag_or_stops_the_policy(release):
    # NVIDIA/gpu-operator:controllers/state_manager.go init: before annotations and the container runtime
    made = expanded(release, {"version": "1"}, node(**{f"{NFD}system-os_release.VERSION_ID": None}))
    if release in since("v26.3.0"):
        (error,) = made.errors
        what = "tag" if release == "v26.3.0" else "info"
        label = f"{NFD}system-os_release.VERSION_ID"
        assert error.endswith(
            f"failed to retrieve GPU node OS {what}: unable to retrieve OS version from label {label}"
        )
        assert not drivers(made)
        assert made.runtime == ""
    else:
        assert image_tag(made) == "1-"
    marked = "nvidia.com/gpu-driver-upgrade-enabled" in made.node_annotations["gpu-1"]
    assert marked is (release not in ("v26.3.0", "v26.3.1", "v26.3.3"))


def test_openshift_is_not_predicted():
    made = expanded("v26.3.3", {}, node(os_id="rhcos", version="4.17"))

    assert [text for text in made.unknown if "OpenShift" in text]


# -- precompiled drivers


@pytest.mark.parametrize("release", RELEASES)
def test_a_daemon_set_for_each_kernel_of_precompiled_drivers(release):
    # NVIDIA/gpu-operator:controllers/object_controls.go transformPrecompiledDriverDaemonset
    nodes = node("a"), node("b", kernel="5.15.0-131-generic"), node("c")
    found = drivers(expanded(release, {"usePrecompiled": True, "version": "550"}, *nodes))

    assert sorted(found) == [f"nvidia-driver-daemonset-5.15.0-{number}-generic-ubuntu22.04" for number in (130, 131)]
    for name, item in found.items():
        kernel = name.removeprefix("nvidia-driver-daemonset-").removesuffix("-ubuntu22.04")
        template = item["spec"]["template"]
        assert template["spec"]["nodeSelector"][f"{NFD}kernel-version.full"] == kernel
        assert template["spec"]["containers"][0]["image"] == f"nvcr.io/nvidia/driver:550-{kernel}-ubuntu22.04"
        assert item["metadata"]["labels"]["nvidia.com/precompiled"] == "true"
        assert template["metadata"]["labels"]["nvidia.com/precompiled"] == "true"
        assert item["spec"]["selector"]["matchLabels"] == {"app": "nvidia-driver-daemonset"}


@pytest.mark.parametrize(
    ("kernel", "name", "oldest"),
    [
        (RHEL_KERNEL, "5.14.0-427.13.1.el9.4", "5.14.0-427.13.1.el9.4"),
        ("5.14.0-427.el9_4.aarch64_64k", "5.14.0-427.el9.4", "5.14.0-427.el9.4..64k"),
    ],
)
def test_a_kernel_in_a_name(kernel, name, oldest):
    nodes = node(os_id="rhel", version="9.4", kernel=kernel)
    found = [list(drivers(expanded(release, {"usePrecompiled": True}, nodes))) for release in RELEASES]

    assert found == [[f"nvidia-driver-daemonset-{text}-rhel9.4"] for text in (oldest, *[name] * (len(RELEASES) - 1))]


@pytest.mark.parametrize("release", RELEASES)
def test_two_systems_with_one_kernel_or_a_node_without_one_stop_precompiled_drivers(release):
    two = expanded(release, {"usePrecompiled": True}, node("a"), node("b", version="24.04"))
    none = expanded(release, {"usePrecompiled": True}, node(kernel=None))

    words = f"different OS versions found for the same kernel version {UBUNTU_KERNEL}, unsupported configuration"
    assert two.errors == (POLICY + START[release] + words,)
    assert none.errors == (POLICY + f'{START[release]}Label.Node "{NFD}kernel-version.full" not found',)


@pytest.mark.parametrize(
    ("module", "words"),
    [("gds", "GPUDirect Storage driver (nvidia-fs) is"), ("gdrcopy", "GDRCopy is")],
)
def test_modules_beside_precompiled_drivers_are_refused(module, words):
    made = expanded("v26.3.3", {"usePrecompiled": True}, **{module: {"enabled": True}})

    each = f"failed to handle Precompiled Driver Daemonset for version {UBUNTU_KERNEL}: {words}"
    text = f"[{each} not supported along with pre-compiled NVIDIA drivers]"
    assert made.errors == (f"{POLICY}unable to deploy precompiled driver daemonsets {text}",)


@pytest.mark.parametrize("release", RELEASES)
def test_a_precompiled_driver_on_suse_reads_the_kernel_modules_of_the_host(release):
    made = expanded(
        release,
        {"usePrecompiled": True, "env": [{"name": "A", "value": "b"}]},
        node(os_id="sles", version="15.6", kernel="6.4.0-default"),
        os_release="ID=sles",
    )
    (found,) = drivers(made).values()
    pod = found["spec"]["template"]["spec"]

    reads = release in since("v26.3.1")
    assert made.unknown == ()
    assert mounted(container(made), "lib-modules") == ([("lib-modules", "/run/host/lib/modules")] if reads else [])
    own = [item["hostPath"] for item in pod["volumes"] if item["name"] == "lib-modules"]
    assert own == ([{"path": "/lib/modules", "type": "Directory"}] if reads else [])


# -- files


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("os_id", "packages", "certificates", "first"),
    [
        ("ubuntu", "/etc/apt/sources.list.d", "/usr/local/share/ca-certificates", "v24.6.1"),
        ("rhel", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v24.6.1"),
        ("debian", "/etc/apt/sources.list.d", "/usr/local/share/ca-certificates", "v26.3.0"),
        ("sles", "/etc/zypp/repos.d", "/etc/pki/trust/anchors", "v26.3.0"),
        ("ol", "/etc/yum.repos.d", "/etc/pki/ca-trust/extracted/pem", "v26.7.0"),
    ],
)
def test_folders_of_the_operating_system(release, os_id, packages, certificates, first):
    made = expanded(
        release,
        {"repoConfig": {"configMapName": "repo"}, "certConfig": {"name": "certs"}},
        node(os_id=os_id, version="12.1"),
        os_release=f"ID={os_id}",
        objects=[config_map("repo", "b", "a"), config_map("certs", "ca.pem")],
        gdrcopy={"enabled": True},
    )
    if release not in since(first):
        words = "failed to get destination directory for custom repo config: "
        words += (
            f"repository configuration not supported for distribution {os_id}12.1"
            if release in since("v26.3.0")
            else "distribution not supported"
        )
        assert made.errors == (f"{POLICY}ERROR: {words}",)
        return
    expected = [("repo", f"{packages}/a"), ("repo", f"{packages}/b"), ("certs", f"{certificates}/ca.pem")]
    assert mounted(container(made), "repo", "certs") == expected
    assert mounted(container(made, "nvidia-gdrcopy-ctr"), "repo", "certs") == expected


@pytest.mark.parametrize("release", RELEASES)
def test_up_to_25_10_the_operators_own_node_decides_on_folders(release):
    made = expanded(
        release,
        {"repoConfig": {"configMapName": "repo"}},
        os_release="ID=rhel",
        objects=[config_map("repo", "x")],
    )
    folder = "/etc/apt/sources.list.d" if release in since("v26.3.0") else "/etc/yum.repos.d"

    assert mounted(container(made), "repo") == [("repo", f"{folder}/x")]
    assert len(own_volumes(made, "subscription-config")) == (0 if release in since("v26.3.0") else 3)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("os_id", ["rhel", "sles", "sl-micro"])
@pytest.mark.parametrize("own", [False, True])
def test_subscriptions_of_the_host(release, os_id, own):
    # a repository of one's own replaces them on Red Hat only: NVIDIA/gpu-operator@v26.7.0:controllers/object_controls.go
    made = expanded(
        release,
        {"repoConfig": {"configMapName": "repo"}} if own else {},
        node(os_id=os_id, version="9.4"),
        os_release=f'ID="{os_id}"',
        objects=[config_map("repo", "x")],
    )
    if made.errors:
        assert own
        assert (os_id, release) not in {("rhel", item) for item in RELEASES}
        return
    red_hat = [
        ("/etc/pki/entitlement", "Directory"),
        ("/etc/yum.repos.d/redhat.repo", "File"),
        ("/etc/rhsm", "Directory"),
    ]
    suse = [("/etc/SUSEConnect", "FileOrCreate"), ("/etc/zypp/credentials.d", "Directory")]
    expected = red_hat if os_id == "rhel" else suse
    if (os_id == "rhel" and own and release == "v26.7.0") or (os_id == "sl-micro" and release not in since("v25.3.0")):
        expected = []
    found = [item["hostPath"] for item in own_volumes(made, "subscription-config")]
    assert [(item["path"], item["type"]) for item in found] == expected


@pytest.mark.parametrize(("os_id", "known"), [("ubuntu", True), ("rhel", False)])
def test_subscriptions_are_not_guessed_where_nobody_knows_the_operators_node(os_id, known):
    made = expanded("v25.10.1", {}, node(os_id=os_id, version="9.4"), os_release=None)

    assert (made.unknown == ()) is known


@pytest.mark.parametrize("release", RELEASES)
def test_a_license_by_config_map_or_secret(release):
    by_map = expanded(release, {"licensingConfig": {"configMapName": "lic", "nlsEnabled": True}})
    both = expanded(release, {"licensingConfig": {"configMapName": "lic", "secretName": "sec", "nlsEnabled": False}})
    token = "client_configuration_token.tok"
    keys = [{"key": file, "path": file} for file in ("gridd.conf", token)]

    assert mounted(container(by_map), "licensing") == [
        ("licensing-config", "/drivers/gridd.conf"),
        ("licensing-config", f"/drivers/ClientConfigToken/{token}"),
    ]
    assert own_volumes(by_map, "licensing") == [
        {"name": "licensing-config", "configMap": {"name": "lic", "items": keys}}
    ]
    (volume,) = own_volumes(both, "licensing")
    secret = release in since("v25.10.0")
    source = (
        {"secret": {"secretName": "sec", "items": keys[:1]}}
        if secret
        else {"configMap": {"name": "lic", "items": keys[:1]}}
    )
    assert volume == {"name": "licensing-config", **source}


@pytest.mark.parametrize("release", RELEASES)
def test_topology_kernel_modules_and_peer_memory(release):
    made = expanded(
        release,
        {
            "virtualTopology": {"config": "topo"},
            "kernelModuleConfig": {"name": "mods"},
            "rdma": {"enabled": True, "useHostMofed": True},
        },
        objects=[config_map("mods", "nvidia.conf")],
    )
    main, peer, manager = (
        container(made, name) for name in ("nvidia-driver-ctr", "nvidia-peermem-ctr", "k8s-driver-manager")
    )

    assert mounted(main, "topology", "mods") == [
        ("topology-config", "/etc/nvidia/nvidia-topologyd.conf"),
        ("mods", "/drivers/nvidia.conf"),
    ]
    assert mounted(peer, "mods") == [("mods", "/drivers/nvidia.conf")]
    assert peer["image"] == main["image"]
    for found in (main, manager):
        assert variables(found)["GPU_DIRECT_RDMA_ENABLED"] == variables(found)["USE_HOST_MOFED"] == "true"
    assert "GPU_DIRECT_RDMA_ENABLED" not in variables(peer)
    assert variables(peer)["USE_HOST_MOFED"] == "true"
    (source,) = own_volumes(made, "mlnx-ofed-usr-src")
    assert source["hostPath"]["path"] == "/usr/src"


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"kernelModuleConfig": {"name": "no"}}, "ConfigMap VolumeMounts for kernel module configuration"),
        ({"repoConfig": {"configMapName": "no"}}, "ConfigMap VolumeMounts for custom repo config"),
        ({"certConfig": {"name": "no"}}, "ConfigMap VolumeMounts for custom certs"),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_a_missing_config_map_stops_the_driver(release, stated, words):
    missing = 'ERROR: could not get ConfigMap no from client: configmaps "no" not found'

    assert expanded(release, stated).errors == (f"{POLICY}ERROR: failed to create {words}: {missing}",)


# -- the container


def test_a_probe_that_the_driver_does_not_have_stops_the_operator():
    # NVIDIA/gpu-operator:controllers/object_controls.go setContainerProbe reaches into a probe that is not there
    made = expanded("v26.7.0", {"livenessProbe": {"periodSeconds": 5}})

    (error,) = made.errors
    assert "panic: nil pointer, as the driver's container has no livenessProbe" in error


@pytest.mark.parametrize("release", RELEASES)
def test_fields_of_the_startup_probe_are_set_one_by_one(release):
    probe = container(expanded(release, {"startupProbe": {"periodSeconds": 7}}))["startupProbe"]

    assert (probe["periodSeconds"], probe["initialDelaySeconds"], probe["failureThreshold"]) == (7, 60, 120)


@pytest.mark.parametrize("release", RELEASES)
def test_resources_reach_the_containers_beside_from_26_3_on(release):
    made = expanded(release, {"resources": {"limits": {"cpu": "1"}}, "rdma": {"enabled": True}})
    beside = container(made, "nvidia-peermem-ctr").get("resources")

    assert container(made)["resources"] == {"limits": {"cpu": "1"}}
    assert beside == ({"limits": {"cpu": "1"}} if release in since("v26.3.0") else None)


@pytest.mark.parametrize("release", RELEASES)
def test_who_wins_between_own_variables_and_the_operators(release):
    stated = {"name": "GPU_DIRECT_RDMA_ENABLED", "value": "no"}
    found = container(expanded(release, {"rdma": {"enabled": True}, "env": [stated]}))

    assert variables(found)["GPU_DIRECT_RDMA_ENABLED"] == ("no" if release in since("v25.3.3") else "true")


@pytest.mark.rows(24, "a row takes 0.022 s; each value of each column is seen first")
@pytest.mark.parametrize(
    ("version", "stops"),
    [("2.17.4", False), ("2.17.5", True), ("2.17.5-rc.1", False), ("2.20.5", True), ("sha256:a", True)],
)
@pytest.mark.parametrize("release", RELEASES)
def test_newer_nvidia_fs_needs_open_modules_up_to_24_9(release, version, stops):
    made = expanded(release, {}, gds={"enabled": True, "version": version})
    opened = expanded(release, {"useOpenKernelModules": True}, gds={"enabled": True, "version": version})

    assert bool(made.errors) is (stops and release not in since("v25.3.0"))
    assert not opened.errors


@pytest.mark.parametrize("release", RELEASES)
def test_a_digest_has_no_operating_system_but_a_precompiled_driver_ignores_that_it_is_one(release):
    digest = "sha256:" + "a" * 64

    assert container(expanded(release, {"version": digest}))["image"] == f"nvcr.io/nvidia/driver@{digest}"
    found = container(expanded(release, {"version": digest, "usePrecompiled": True}))
    assert found["image"] == f"nvcr.io/nvidia/driver:{digest}-{UBUNTU_KERNEL}"
