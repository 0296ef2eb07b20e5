"""From the chart's values over the GPUCluster that an API server stores to what the operator creates."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import expand_gpu_cluster
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operands import read_operands
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from poolsmith.kubernetes.server.storing import stored

RELEASE = "v26.7.0"
SERVED = ("resource.k8s.io/v1/DeviceClass",)
STACK = {
    "clusterPolicy": {"deployCR": False},
    "gpuCluster": {"deployCR": True},
    "driver": {"nvidiaDriverCRD": {"enabled": True}},
}


def expanded(values):
    defaults = read_chart("gpu-operator", RELEASE).defaults
    projected = project(read_projection(RELEASE), defaults, {**STACK, **values}, HelmRelease("gpu-operator", SERVED))
    assert projected.errors == ()
    definitions = read_crds(RELEASE)
    found = [stored(item, definitions[item["kind"]].checks).resource for item in projected.objects]
    (cluster,) = [item for item in found if item["kind"] == "GPUCluster"]
    drivers = [item for item in found if item["kind"] == "NVIDIADriver"]
    context = Context(entry=read_operands(RELEASE), policy=None, nodes=(), runtime="containerd", service_monitors=True)
    return expand_gpu_cluster(context, cluster, drivers, api_versions=SERVED)


def workloads(expansion):
    return sorted(item["metadata"]["name"] for item in expansion.objects if "template" in item.get("spec", ()))


def images(expansion):
    return {
        container["image"]
        for item in expansion.objects
        if "template" in item.get("spec", ())
        for container in item["spec"]["template"]["spec"]["containers"]
    }


def test_the_charts_defaults_run_driver_validator_controller_and_exporter():
    expansion = expanded({})

    assert expansion.unknown == expansion.notes == expansion.errors == ()
    assert expansion.conditions[0].state == "ready"
    assert workloads(expansion) == [
        "nvidia-dcgm-exporter-dra",
        "nvidia-dra-driver-controller",
        "nvidia-dra-driver-kubelet-plugin",
        "nvidia-dra-validator",
    ]
    assert all(image.startswith("nvcr.io/nvidia/") for image in images(expansion))


def test_the_charts_defaults_watch_the_exporter():
    assert [item["metadata"]["name"] for item in expanded({}).objects if item["kind"] == "ServiceMonitor"] == [
        "nvidia-dcgm-exporter-dra"
    ]


@pytest.mark.parametrize(
    ("values", "gone", "more"),
    [
        ({"dcgm": {"enabled": True}}, [], ["nvidia-dcgm-dra"]),
        ({"dcgmExporter": {"enabled": False}}, ["nvidia-dcgm-exporter-dra"], []),
        ({"draDriver": {"computeDomains": {"enabled": False}}}, ["nvidia-dra-driver-controller"], []),
    ],
)
def test_values_switch_workloads(values, gone, more):
    assert set(workloads(expanded(values))) == set(workloads(expanded({}))) - set(gone) | set(more)


def test_a_driver_folder_of_the_users_does_not_move_the_driver():
    (note,) = expanded({"hostPaths": {"driverInstallDir": "/opt/driver"}}).notes

    assert "NVIDIADriver default installs into /run/nvidia/driver" in note
