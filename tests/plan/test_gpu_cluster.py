"""A GPUCluster by `stack.values`: where Kubernetes serves device claims, and with pools that it can serve."""

from __future__ import annotations

import pytest

from poolsmith.app import check_paths
from poolsmith.ledger.prediction import Predictions

VALUES = "values: {clusterPolicy: {deployCR: false}, gpuCluster: {deployCR: true}}"
ON_THE_HOST = {"toolkit": "{source: preinstalled}"}


def cluster(kubernetes="1.34", driver_mode="nvidia-driver"):
    return {
        "kubernetes": f'{{version: "{kubernetes}", distribution: kubeadm}}',
        "stack": f"{{release: v26.7.0, driverMode: {driver_mode}, {VALUES}}}",
    }


@pytest.mark.parametrize("kubernetes", ["1.34", "1.34.2", "1.36"])
def test_kubernetes_serves_device_classes_from_1_34_on(resolve, catalog, kubernetes):
    outcome = resolve(cluster(kubernetes), {"a": ON_THE_HOST})

    assert "operator-error" not in outcome.names
    assert outcome.pool("a").smoke.image is None
    made = Predictions(catalog).of(outcome.plan, outcome.loaded).installation.made
    assert "DaemonSet/nvidia-dra-driver-kubelet-plugin" in {f"{item.body['kind']}/{item.name}" for item in made}


def test_older_kubernetes_serves_none(resolve):
    outcome = resolve(cluster("1.33"), {"a": ON_THE_HOST})

    assert ("operator-error", "cluster.yaml:6:3") in outcome.findings


@pytest.mark.parametrize(
    ("pool", "word"),
    [
        ({}, "toolkit"),
        ({**ON_THE_HOST, "gpu": "{product: A30, count: 2, mig: {layout: all-1g.6gb}}"}, "MIG"),
        ({**ON_THE_HOST, "sharing": "{timeSlicing: {replicas: 2}}"}, "sharing"),
    ],
)
def test_what_nothing_of_it_would_provide_is_refused(resolve, pool, word):
    found = [item for item in resolve(cluster(), {"a": pool}).diagnostics if item.name == "stack-contradiction"]

    assert len(found) == 1
    assert word in found[0].message


@pytest.mark.parametrize(("driver", "refused"), [("570.211.01", True), ("580.126.20", False)])
def test_its_driver_is_of_branch_580_or_later(tmp_path, driver, refused):
    folder = tmp_path / "gpu"
    folder.mkdir()
    (folder / "drivers.yaml").write_text(
        "apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {name: a}\n"
        f"spec: {{driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: {driver}}}\n"
    )
    (folder / "values.yaml").write_text(
        "clusterPolicy: {deployCR: false}\ngpuCluster: {deployCR: true}\n"
        "driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}\n"
    )
    found = check_paths(folder, [folder], release="v26.7.0", everything=True).diagnostics

    assert ("gpu-cluster-preconditions" in {item.name for item in found}) is refused
