"""Which NVIDIADriver objects the operator serves, and what it says of the others."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases
from poolsmith.fleet.operands.nvidia_driver import expand_drivers

driver, node, expanded, errors, daemon_sets = cases.driver, cases.node, cases.expanded, cases.errors, cases.daemon_sets
RELEASES = cases.RELEASES
BEFORE_OWNERS = RELEASES[:-1]
NO_POLICY = "no ClusterPolicy object found in the cluster"


@pytest.mark.parametrize("release", RELEASES)
def test_a_served_resource_is_ready(release):
    (condition,) = expanded([driver()], release=release).conditions

    assert condition.state == "ready"
    assert [dict(item) for item in condition.conditions] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Reconciled",
            "message": "All resources have been successfully reconciled",
        },
        {"type": "Error", "status": "False", "reason": "Ready", "message": ""},
    ]


@pytest.mark.parametrize("release", BEFORE_OWNERS)
def test_without_a_cluster_policy_the_controller_fails(release):
    expansion = expanded([driver()], release=release, policy=None)

    assert errors(expansion) == {"pool": ("notReady", "ReconcileFailed", NO_POLICY)}
    assert expansion.errors == (f"NVIDIADriver/pool: {NO_POLICY}",)
    assert expansion.objects == ()


def test_the_newest_release_needs_no_cluster_policy():
    expansion = expanded([driver()], policy=None, gpu_cluster=True)

    assert len(daemon_sets(expansion)) == 1
    assert expansion.errors == ()


def test_without_any_cluster_resource_no_node_is_labelled_and_nothing_is_created():
    bare = [node(**{"nvidia.com/gpu.present": "false"})]
    expansion = expanded([driver()], bare, policy=None)

    assert (expansion.objects, errors(expansion)) == ((), {})


@pytest.mark.parametrize("release", RELEASES)
def test_a_policy_that_does_not_delegate_disables_drivers_from_26_3_on(release):
    expansion = expanded([driver()], release=release, policy={})
    disabled = {"pool": ("disabled", "Reconciled", "useNvidiaDriverCRD is not enabled in ClusterPolicy")}

    assert errors(expansion) == (disabled if release in RELEASES[-2:] else {})
    assert bool(expansion.objects) == (release in RELEASES[:-2])
    assert expansion.errors == ()


def test_a_policy_with_drivers_of_its_own_beside_a_gpu_cluster_is_unknown():
    assert expanded([driver()], policy={}, gpu_cluster=True).unknown == (
        "NVIDIADriver/pool: a ClusterPolicy with a driver of its own beside a GPUCluster",
    )


@pytest.mark.parametrize("module", ["gds", "gdrcopy"])
@pytest.mark.parametrize("release", RELEASES)
def test_precompiled_drivers_have_no_modules_beside_them(release, module):
    resource = driver(usePrecompiled=True, **{module: {"enabled": True, "version": "2.16.1"}})
    message = (
        "GPUDirect Storage driver (nvidia-fs) and/or GDRCopy driver is not supported along with pre-compiled "
        "NVIDIA drivers"
    )

    assert errors(expanded([resource], release=release)) == {"pool": ("notReady", "ReconcileFailed", message)}


@pytest.mark.parametrize(
    ("version", "refused"),
    [
        ("2.17.4", False),
        ("2.17.5", True),
        ("v2.17.5", True),
        ("2.17.5-rc.1", False),
        ("2.20.5", True),
        ("3", True),
        ("2.020.5", False),
        ("newest", False),
        ("sha256:" + "a" * 64, True),
    ],
)
def test_a_newer_gds_demands_open_kernel_modules(version, refused):
    gds = {"enabled": True, "repository": "r.io", "image": "nvidia-fs", "version": version}
    found = errors(expanded([driver(gds=gds, kernelModuleType="auto")]))

    assert [reason for _, reason, _ in found.values()] == (["ReconcileFailed"] if refused else [])
    assert all(f"GPUDirect Storage driver '{version}' is only supported" in text for *_, text in found.values())


@pytest.mark.parametrize("release", RELEASES)
def test_open_kernel_modules_are_chosen_by_the_field_of_the_release(release):
    gds = {"enabled": True, "repository": "r.io", "image": "nvidia-fs", "version": "2.20.5"}
    old = errors(expanded([driver(gds=gds, useOpenKernelModules=True)], release=release))
    new = errors(expanded([driver(gds=gds, kernelModuleType="open")], release=release))

    assert (bool(old), bool(new)) == ((False, True) if release in RELEASES[:2] else (True, False))


@pytest.mark.parametrize("release", RELEASES)
def test_a_secret_for_variables_has_to_exist_from_25_10_on(release):
    missing = {"pool": ("notReady", "ReconcileFailed", 'secrets "proxy" not found')}

    assert errors(expanded([driver(secretEnv="proxy")], release=release)) == (
        missing if release in RELEASES[3:] else {}
    )


def test_a_secret_of_another_namespace_does_not_count():
    secret = {"kind": "Secret", "metadata": {"name": "proxy", "namespace": "other"}}

    assert "pool" in errors(expanded([driver(secretEnv="proxy")], objects=[secret]))


def test_openshift_is_unknown():
    assert expanded([driver()], [node(os_id="rhcos", version="4.18")]).unknown == (
        "NVIDIADriver/pool: drivers on OpenShift",
    )


def test_a_release_that_the_catalog_does_not_have_is_unknown():
    class Entry:
        release = "v99.1.0"

    class Context:
        entry = Entry()

    assert expand_drivers(Context(), [driver()]).unknown == ("NVIDIADriver/pool: what release v99.1.0 makes of it",)


def test_a_resource_that_is_being_deleted_is_left_alone_in_the_newest_release():
    resource = driver()
    resource["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    expansion = expanded([resource])

    assert [(item.state, item.conditions) for item in expansion.conditions] == [("", ())]
    assert expansion.objects == ()
