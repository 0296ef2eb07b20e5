"""What an installation that the operator cannot settle says, and how often."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.gpu.catalog.charts import read_chart

LABELS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
}
NODE = Node(name="a", labels=LABELS, runtime="containerd://2.1")
RHEL = {
    "feature.node.kubernetes.io/system-os_release.ID": "rhel",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "9.4",
}
GDS = {"gds": {"enabled": True}}
NO_DEFAULT_DRIVER = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}


@pytest.fixture
def installation():
    def run(release, nodes, values=None, resources=()):
        given = InstallationInput(
            release=release,
            namespace="gpu-operator",
            nodes=nodes,
            values=values or {},
            resources=resources,
            chart=read_chart("gpu-operator", release),
        )
        return install(given)

    return run


@pytest.fixture
def errors(installation):
    def run(release, values, *resources):
        return installation(release, (NODE,), values, resources).errors

    return run


def driver(name, **spec):
    metadata = {"name": name}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": metadata, "spec": spec}


def test_an_installation_that_settles_has_no_errors(errors):
    assert errors("v24.9.2", {}) == ()


def test_a_failure_that_the_operator_reports_and_writes_as_a_condition_is_told_once(errors):
    (error,) = errors("v24.9.2", GDS)

    assert error.startswith("ClusterPolicy/cluster-policy: GPUDirect Storage driver")


def test_a_failure_that_stands_in_conditions_only_is_told_for_each_resource(errors):
    found = errors("v26.3.3", NO_DEFAULT_DRIVER, driver("one", version="580"), driver("two", version="580"))

    assert [error.partition(": ")[0] for error in found] == ["NVIDIADriver/one", "NVIDIADriver/two"]


def test_a_driver_is_predicted_also_where_the_operators_own_node_decides_about_its_mounts(installation):
    rhel = Node(name="a", labels={**LABELS, **RHEL}, runtime="containerd://2.1")
    found = installation("v25.10.1", (rhel,))
    (driver,) = (item.body for item in found.made if item.name == "nvidia-driver-daemonset")
    volumes = [volume["name"] for volume in driver["spec"]["template"]["spec"]["volumes"]]

    assert "subscription-config-0" in volumes
    assert [text for text in found.unknown if "taken for rhel, like all pools" in text]


def test_where_pools_differ_nobody_can_tell_what_the_operators_own_node_is(installation):
    rhel = Node(name="a", labels={**LABELS, **RHEL}, runtime="containerd://2.1")
    found = installation("v25.10.1", (rhel, NODE))

    assert [text for text in found.unknown if "/etc/os-release" in text]
    assert "nvidia-driver-daemonset" not in [item.name for item in found.made]
