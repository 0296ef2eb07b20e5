"""What the Confidential Containers operator brings, and what its controller makes of a CcRuntime.

The expectations are read off controllers/ccruntime_controller.go and controllers/common.go at v0.7.0, and kustomize's
build of config/release (`tests/real_tools/test_kustomize_coco.py`), of which the hash is.
"""

from __future__ import annotations

import pytest

from poolsmith.core.facts import store
from poolsmith.fleet.operands.cc_runtime import brought_objects, made_of
from poolsmith.fleet.plan.plan import GitSource
from poolsmith.fleet.plan.sandbox.kata_delivery import cc_runtime
from poolsmith.gpu.catalog.chart_workloads import COCO_OPERATOR, chart_versions
from support.chart_objects import comparable
from support.kata_deploy import digests

NAMESPACE = "confidential-containers-system"
VERSIONS = {"v0.7.0": "66bfba438aed577f"}
FACTS = store.read_yaml("sandbox.yaml")["cocoOperator"]
NODES = {"nvidia.com/gpu.workload.config": "vm-passthrough"}


def source(**changes):
    values = {
        "repository": FACTS["repository"],
        "revision": f"refs/tags/{FACTS['release']}",
        "path": FACTS["path"],
        "level": "privileged",
    }
    return GitSource(**{**values, **changes})


def brought(version):
    found = brought_objects(source(revision=f"refs/tags/{version}"), NAMESPACE)
    assert found.errors == found.unknown == ()
    return found.objects


def digest(objects):
    return digests(comparable(objects, NAMESPACE))


@pytest.fixture
def runtime():
    return cc_runtime(FACTS, NODES)


def by_name(objects):
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in objects}


def pod_of(item):
    return item["spec"]["template"]["spec"]


def test_each_known_version_is_held_against_kustomize():
    assert set(VERSIONS) == set(chart_versions(COCO_OPERATOR)) == {FACTS["release"]}


@pytest.mark.parametrize("version", VERSIONS)
def test_its_manifests_are_those_that_kustomize_builds(version):
    assert digest(brought(version)) == VERSIONS[version]


@pytest.mark.parametrize(
    "changes",
    [
        {"revision": "refs/tags/v0.8.0"},
        {"revision": "main"},
        {"path": "config/default"},
        {"repository": "https://github.com/somebody/operator"},
    ],
)
def test_what_is_not_described_stays_unknown(changes):
    assert brought_objects(source(**changes), NAMESPACE) is None


def test_a_mirror_of_the_repository_brings_the_same():
    mirrored = source(repository="https://git.example.com/mirrors/confidential-containers/operator.git")

    assert brought_objects(mirrored, NAMESPACE) is not None


def test_a_runtime_becomes_daemon_sets_and_classes(runtime):
    made = made_of(runtime, NAMESPACE)

    assert list(by_name(made.on_deletion)) == ["DaemonSet/cc-operator-post-uninstall-daemon"]
    assert list(by_name(made.lasting)) == [
        "DaemonSet/cc-operator-daemon-install",
        "DaemonSet/cc-operator-daemon-uninstall",
        "DaemonSet/cc-operator-pre-install-daemon",
        *(f"RuntimeClass/{name}" for name in FACTS["runtimeClassNames"]),
    ]


def test_every_pod_of_it_is_privileged_and_runs_under_the_operators_account(runtime):
    made = made_of(runtime, NAMESPACE)
    for item in (*made.lasting, *made.on_deletion):
        if item["kind"] == "DaemonSet":
            (container,) = pod_of(item)["containers"]
            assert container["securityContext"] == {"privileged": True, "runAsUser": 0}
            assert container["imagePullPolicy"] == "Always"
            assert pod_of(item)["serviceAccountName"] == "cc-operator-controller-manager"
            assert "hostPID" not in pod_of(item)
            assert item["metadata"]["namespace"] == NAMESPACE


def test_the_installer_runs_what_the_runtime_says_where_it_says(runtime):
    made = by_name(made_of(runtime, NAMESPACE).lasting)
    config = runtime["spec"]["config"]
    install, uninstall = (made[f"DaemonSet/cc-operator-daemon-{word}"] for word in ("install", "uninstall"))

    assert pod_of(install)["nodeSelector"] == NODES
    assert pod_of(uninstall)["nodeSelector"] == {"katacontainers.io/kata-runtime": "cleanup"}
    assert pod_of(install)["containers"][0]["command"] == config["installCmd"]
    assert pod_of(install)["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == config["cleanupCmd"]
    assert pod_of(uninstall)["containers"][0]["command"] == config["uninstallCmd"]
    for item in (install, uninstall):
        assert pod_of(item)["volumes"] == config["installerVolumes"]
        assert pod_of(item)["containers"][0]["volumeMounts"] == config["installerVolumeMounts"]
        assert pod_of(item)["containers"][0]["image"] == config["payloadImage"]
        assert item["metadata"]["ownerReferences"][0]["name"] == "ccruntime"


def test_a_hook_without_an_image_is_none(runtime):
    runtime["spec"]["config"]["preInstall"] = {}
    del runtime["spec"]["config"]["postUninstall"]
    made = made_of(runtime, NAMESPACE)

    assert made.on_deletion == ()
    assert "DaemonSet/cc-operator-pre-install-daemon" not in by_name(made.lasting)


def test_without_a_selector_the_workers_get_it(runtime):
    del runtime["spec"]["ccNodeSelector"]
    made = by_name(made_of(runtime, NAMESPACE).lasting)

    assert pod_of(made["DaemonSet/cc-operator-pre-install-daemon"])["nodeSelector"] == {"node.kubernetes.io/worker": ""}
    assert "scheduling" not in made["RuntimeClass/kata"]


def test_classes_without_names_are_the_controllers_own(runtime):
    del runtime["spec"]["config"]["runtimeClassNames"]
    made = by_name(made_of(runtime, NAMESPACE).lasting)

    assert [name for name in made if name.startswith("RuntimeClass/")] == [
        "RuntimeClass/kata-clh",
        "RuntimeClass/kata-qemu",
        "RuntimeClass/kata",
    ]
