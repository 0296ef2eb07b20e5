"""The pods of NVIDIADriver objects: containers, metadata, scheduling."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases

driver, node, expanded, daemon_sets = cases.driver, cases.node, cases.expanded, cases.daemon_sets
pod, container, variables = cases.pod, cases.container, cases.variables
RELEASES = cases.RELEASES
MANAGER = "k8s-driver-manager"
MODULE = {"enabled": True, "repository": "r.io/nvidia", "version": "v1"}
GDS, GDRCOPY = {**MODULE, "image": "nvidia-fs"}, {**MODULE, "image": "gdrdrv"}
TRUE = "true"


# -- containers


@pytest.mark.parametrize("release", RELEASES)
def test_the_variables_of_a_driver_stand_in_the_operators_order(release):
    resource = driver(
        env=[{"name": "OWN", "value": "1"}, {"name": "EMPTY"}],
        useOpenKernelModules=True,
        kernelModuleType="open",
        gds=GDS,
        gdrcopy=GDRCOPY,
        rdma={"enabled": True, "useHostMofed": True},
    )
    digest = [("DRIVER_CONFIG_DIGEST", None)] if release in RELEASES[-2:] else []
    modules = [("KERNEL_MODULE_TYPE", "open")] if release in RELEASES[2:] else []
    features = [("GDS_ENABLED", TRUE), ("GDRCOPY_ENABLED", TRUE)] if release in RELEASES[-2:] else []

    assert variables(container(pod(resource, release=release))) == [
        ("NVIDIA_VISIBLE_DEVICES", "void"),
        *digest,
        *modules,
        ("OPEN_KERNEL_MODULES_ENABLED", TRUE),
        *features,
        ("OWN", "1"),
        ("EMPTY", ""),
        ("GPU_DIRECT_RDMA_ENABLED", TRUE),
        ("USE_HOST_MOFED", TRUE),
    ]


def test_the_manager_hears_of_rdma_and_of_its_own_variables():
    resource = driver(rdma={"enabled": True}, manager={"env": [{"name": "OWN", "value": "1"}]})

    assert variables(container(pod(resource), MANAGER))[-3:] == [
        ("DRIVER_CONFIG_DIGEST", None),
        ("GPU_DIRECT_RDMA_ENABLED", TRUE),
        ("OWN", "1"),
    ]


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({}, []),
        ({"rdma": {"enabled": True}}, ["nvidia-peermem-ctr"]),
        ({"gds": GDS, "kernelModuleType": "open"}, ["nvidia-fs-ctr"]),
        ({"gdrcopy": GDRCOPY, "rdma": {"enabled": True}}, ["nvidia-peermem-ctr", "nvidia-gdrcopy-ctr"]),
        ({"gds": {**GDS, "enabled": False}}, []),
    ],
)
def test_containers_run_beside_the_driver_where_they_are_asked_for(spec, names):
    found = pod(driver(**spec))

    assert [item["name"] for item in found["containers"]] == ["nvidia-driver-ctr", *names]


def test_the_hosts_mofed_is_mounted_even_where_rdma_is_off():
    found = pod(driver(rdma={"enabled": False, "useHostMofed": True}))
    paths = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in found["volumes"]}

    assert paths["mlnx-ofed-usr-src"] == "/usr/src"
    assert container(found, "nvidia-peermem-ctr") is None


def test_peer_memory_is_the_driver_once_more():
    found = container(
        pod(driver(rdma={"enabled": True, "useHostMofed": True}, imagePullPolicy="Always")), "nvidia-peermem-ctr"
    )

    assert (found["image"], found["imagePullPolicy"]) == ("nvcr.io/nvidia/driver:595.91.07-ubuntu22.04", "Always")
    assert variables(found) == [("NVIDIA_VISIBLE_DEVICES", "void"), ("USE_HOST_MOFED", TRUE)]


def test_pull_policies_are_those_asked_for_but_for_gds():
    always = {"imagePullPolicy": "Always"}
    resource = driver(kernelModuleType="open", gds=GDS | always, gdrcopy=GDRCOPY | always, manager=always, **always)
    found = pod(resource)
    policies = {item["name"]: item["imagePullPolicy"] for item in [*found["initContainers"], *found["containers"]]}

    assert policies == {
        MANAGER: "Always",
        "nvidia-driver-ctr": "Always",
        "nvidia-fs-ctr": "IfNotPresent",
        "nvidia-gdrcopy-ctr": "Always",
    }


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("v25.3.4", ["nvidia-driver-ctr"]),
        ("v25.10.1", ["nvidia-driver-ctr", "nvidia-peermem-ctr", "nvidia-fs-ctr", "nvidia-gdrcopy-ctr"]),
        ("v26.7.0", [MANAGER, "nvidia-driver-ctr", "nvidia-peermem-ctr", "nvidia-fs-ctr", "nvidia-gdrcopy-ctr"]),
    ],
)
def test_resources_reach_more_containers_in_newer_releases(release, names):
    resources = {"limits": {"cpu": "0.5", "memory": "1024Mi"}}
    asked = driver(resources=resources, kernelModuleType="open", gds=GDS, gdrcopy=GDRCOPY, rdma={"enabled": True})
    found = pod(asked, release=release)
    given = {
        item["name"]: item["resources"]
        for item in (*found["initContainers"], *found["containers"])
        if "resources" in item
    }

    assert list(given) == names
    assert all(item == {"limits": {"cpu": "500m", "memory": "1Gi"}} for item in given.values())


@pytest.mark.parametrize("release", RELEASES)
def test_a_secret_brings_variables_to_all_but_peer_memory_from_25_10_on(release):
    asked = driver(
        secretEnv="proxy", gds=GDS, kernelModuleType="open", useOpenKernelModules=True, rdma={"enabled": True}
    )
    secret = {"kind": "Secret", "metadata": {"name": "proxy"}}
    found = pod(asked, release=release, objects=[secret])
    names = [item["name"] for item in found["containers"] if item.get("envFrom") == [{"secretRef": {"name": "proxy"}}]]

    assert names == (["nvidia-driver-ctr", "nvidia-fs-ctr"] if release in RELEASES[3:] else [])


def test_a_startup_probe_of_ones_own_replaces_every_number():
    own = container(pod(driver(startupProbe={"periodSeconds": 5})))["startupProbe"]
    usual = container(pod(driver()))["startupProbe"]
    precompiled = container(pod(driver(usePrecompiled=True), nodes=[node(kernel="6.8.0")]))["startupProbe"]

    assert {key: value for key, value in own.items() if key != "exec"} == {
        "initialDelaySeconds": 0,
        "failureThreshold": 0,
        "successThreshold": 0,
        "periodSeconds": 5,
        "timeoutSeconds": 0,
    }
    assert (usual["initialDelaySeconds"], precompiled["initialDelaySeconds"]) == (60, 5)
    assert own["exec"] == usual["exec"]


def test_a_host_manager_is_not_probed_and_has_more_time_to_end():
    found = pod(driver(driverType="vgpu-host-manager"))
    manager = container(found)
    mounts = {item["mountPath"] for item in manager["volumeMounts"]}

    assert not {"startupProbe", "lifecycle"} & set(manager)
    assert mounts >= {"/sys/fs/cgroup", "/dev/vfio"}
    assert found["terminationGracePeriodSeconds"] == 120
    assert found["nodeSelector"]["nvidia.com/gpu.deploy.vgpu-manager"] == TRUE


# -- metadata and scheduling


@pytest.mark.parametrize("release", RELEASES)
def test_own_labels_and_annotations_reach_pods_and_from_26_3_on_daemon_sets(release):
    labels = {"team": "ml", "app": "mine", "app.kubernetes.io/component": "mine", "nvidia.com/precompiled": "mine"}
    (found,) = daemon_sets(expanded([driver(labels=labels, annotations={"note": "1"})], release=release))
    template = found["spec"]["template"]["metadata"]

    assert (template["labels"]["team"], template["labels"]["nvidia.com/precompiled"]) == ("ml", "mine")
    assert template["labels"]["app"] == found["metadata"]["name"]
    assert template["labels"]["app.kubernetes.io/component"] == "nvidia-driver"
    assert template["annotations"] == {"kubectl.kubernetes.io/default-container": "nvidia-driver-ctr", "note": "1"}
    everywhere = release in RELEASES[-2:]
    assert ("team" in found["metadata"]["labels"], "note" in found["metadata"]["annotations"]) == (everywhere,) * 2


def test_tolerations_follow_the_operators_and_a_priority_replaces_it():
    toleration = {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}
    found = pod(driver(tolerations=[toleration], priorityClassName="high"))

    assert found["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        toleration,
    ]
    assert found["priorityClassName"] == "high"
    assert pod(driver())["priorityClassName"] == "system-node-critical"


def test_pull_secrets_stand_in_order_and_may_repeat():
    resource = driver(
        imagePullSecrets=["a", "b"],
        manager={"imagePullSecrets": ["a"]},
        kernelModuleType="open",
        gds=GDS | {"imagePullSecrets": ["c"]},
        gdrcopy={"enabled": False, "imagePullSecrets": ["d"]},
    )

    assert [item["name"] for item in pod(resource)["imagePullSecrets"]] == ["a", "b", "a", "c"]
    assert [
        item["name"] for item in pod(driver(gdrcopy=GDRCOPY | {"imagePullSecrets": ["d"]}))["imagePullSecrets"]
    ] == ["d"]


def test_pull_secrets_of_gdrcopy_beside_others_are_unknown():
    resource = driver(imagePullSecrets=["a"], gdrcopy=GDRCOPY | {"imagePullSecrets": ["d"]})

    assert "no valid YAML" in expanded([resource]).unknown[0]


@pytest.mark.parametrize("release", RELEASES)
def test_the_hosts_network_and_a_security_context_are_read_from_26_3_on(release):
    found = pod(driver(hostNetwork=True, podSecurityContext={"runAsUser": 0}), release=release)
    fields = [found.get(key) for key in ("hostNetwork", "dnsPolicy", "securityContext")]

    assert fields == ([True, "ClusterFirstWithHostNet", {"runAsUser": 0}] if release in RELEASES[-2:] else [None] * 3)


@pytest.mark.parametrize(("options", "path"), [({}, "/"), ({"gpu_cluster": True}, "/"), ({"root": "/host"}, "/host")])
def test_the_hosts_root_is_that_of_the_cluster_policy(options, path):
    policy = {**cases.DELEGATING, "hostPaths": {"rootFS": options.pop("root", "/")}}
    found = pod(driver(), policy=policy, **options)

    assert {"name": "host-root", "hostPath": {"path": path}} in found["volumes"]
