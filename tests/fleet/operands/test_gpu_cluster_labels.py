"""The labels of a node after the operator saw it beside a GPUCluster."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import gpu_cluster_labels

GPU = "feature.node.kubernetes.io/pci-10de.present"
PRESENT = "nvidia.com/gpu.present"
DEPLOY = "nvidia.com/gpu.deploy."
STACK = ("driver", "dra-driver", "dra-validator", "dcgm-dra", "dcgm-exporter-dra")
RESOURCE = {"apiVersion": "nvidia.com/v1alpha1", "kind": "GPUCluster", "metadata": {"name": "gpu-cluster"}, "spec": {}}


def labelled(labels):
    return gpu_cluster_labels(RESOURCE, labels)


def deploy(**values):
    """Deploy labels by their short names; a dash is written as an underscore."""
    return {DEPLOY + name.replace("_", "-"): value for name, value in values.items()}


ALL_ON = {DEPLOY + name: "true" for name in STACK}


def test_a_gpu_node_runs_the_whole_stack():
    assert labelled({GPU: "true"}) == {GPU: "true", PRESENT: "true", **ALL_ON}


@pytest.mark.parametrize("feature", ["pci-10de", "pci-0302_10de", "pci-0300_10de"])
def test_each_of_three_features_makes_a_gpu_node(feature):
    name = f"feature.node.kubernetes.io/{feature}.present"

    assert labelled({name: "true"}) == {name: "true", PRESENT: "true", **ALL_ON}


def test_a_node_without_a_gpu_stays_as_it_is():
    assert labelled({"zone": "a"}) == {"zone": "a"}


def test_a_second_look_changes_nothing():
    once = labelled({GPU: "true", **deploy(driver="false")})

    assert labelled(once) == once


@pytest.mark.parametrize("name", STACK)
@pytest.mark.parametrize("value", ["false", "paused-for-driver-upgrade", "anything"])
def test_a_value_that_stands_is_kept(name, value):
    assert labelled({GPU: "true", DEPLOY + name: value})[DEPLOY + name] == value


@pytest.mark.parametrize("name", STACK)
def test_an_empty_value_counts_as_none(name):
    assert labelled({GPU: "true", DEPLOY + name: ""})[DEPLOY + name] == "true"


def test_a_node_that_refuses_operands_gets_them_all_the_same():
    asked = {GPU: "true", **deploy(operands="false")}

    assert labelled(asked) == {**asked, PRESENT: "true", **ALL_ON}


@pytest.mark.parametrize(
    "name",
    [
        *("operator-validator", "sandbox-validator", "container-toolkit", "device-plugin", "gpu-feature-discovery"),
        *("dcgm", "dcgm-exporter", "mig-manager", "node-status-exporter", "client", "vfio-manager", "cc-manager"),
        *("kata-manager", "vgpu-device-manager", "sandbox-device-plugin", "kata-sandbox-device-plugin"),
    ],
)
@pytest.mark.parametrize("value", ["true", "false"])
def test_labels_of_a_cluster_policys_operands_go(name, value):
    assert labelled({GPU: "true", DEPLOY + name: value}) == {GPU: "true", PRESENT: "true", **ALL_ON}


def test_the_hosts_vgpu_manager_keeps_its_label_on_a_gpu_node():
    assert labelled({GPU: "true", **deploy(vgpu_manager="true")})[DEPLOY + "vgpu-manager"] == "true"


def test_labels_of_others_and_of_mig_stay():
    others = {"nvidia.com/mig.config": "all-1g.10gb", DEPLOY + "of-somebody-else": "x", "nvidia.com/gpu.product": "L4"}

    assert labelled({GPU: "true", **others}) == {GPU: "true", PRESENT: "true", **ALL_ON, **others}


@pytest.mark.parametrize("feature", [{}, {GPU: "false"}])
def test_a_node_that_lost_its_gpu_loses_every_operand(feature):
    before = {**feature, PRESENT: "true", **ALL_ON, **deploy(device_plugin="true", vgpu_manager="true", other="x")}

    assert labelled(before) == {**feature, PRESENT: "false", DEPLOY + "other": "x"}


def test_presence_that_was_denied_by_hand_is_set_right():
    assert labelled({GPU: "true", PRESENT: "false"})[PRESENT] == "true"


def test_what_the_resource_switches_off_is_labelled_too():
    off = {**RESOURCE, "spec": {"dcgm": {"enabled": False}, "dcgmExporter": {"enabled": False}}}

    assert gpu_cluster_labels(off, {GPU: "true"}) == labelled({GPU: "true"})


def test_a_workload_configuration_means_nothing():
    asked = {GPU: "true", "nvidia.com/gpu.workload.config": "vm-passthrough"}

    assert labelled(asked) == {**asked, PRESENT: "true", **ALL_ON}


def test_the_given_labels_are_left_alone():
    labels = {GPU: "true", **deploy(device_plugin="true")}
    labelled(labels)

    assert labels == {GPU: "true", **deploy(device_plugin="true")}


def test_a_release_without_a_gpu_cluster_labels_nothing():
    assert gpu_cluster_labels(RESOURCE, {GPU: "true"}, release="v26.3.3") == {GPU: "true"}
