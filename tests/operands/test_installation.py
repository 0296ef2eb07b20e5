"""What an installation that the operator cannot settle says, and how often."""

from __future__ import annotations

import pytest

from poolsmith.catalog.charts import read_chart
from poolsmith.model.expansion import Node
from poolsmith.operands.installation import InstallationInput, install

LABELS = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
}
NODE = Node(name="a", labels=LABELS, runtime="containerd://2.1")
GDS = {"gds": {"enabled": True}}
NO_DEFAULT_DRIVER = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}


@pytest.fixture
def errors():
    def run(release, values, *resources):
        given = InstallationInput(
            release=release,
            namespace="gpu-operator",
            nodes=(NODE,),
            values=values,
            resources=resources,
            chart=read_chart("gpu-operator", release),
        )
        return install(given).errors

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
