"""Clusters of kind gpu-cluster: GPUs are given out by claims.

Expected values: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/dra-intro-install.rst.
"""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.interface.app import check_paths

READY = {"acknowledge": "[{fact: cdi-runtime}]"}
NVLINK = {**READY, "gpu": "{product: GB200, count: 4, multiNodeNvlink: true}", "arch": "arm64"}
ON_THE_HOST = {**READY, "driver": '{source: preinstalled, version: "580"}'}


def cluster(kubernetes="1.34.2", release="v26.7.0", distribution="kubeadm", more=""):
    return {
        "kubernetes": f'{{version: "{kubernetes}", distribution: {distribution}}}',
        "stack": f"{{kind: gpu-cluster, release: {release}{more}}}",
    }


def predicted(outcome, catalog):
    made = Predictions(catalog).of(outcome.plan, outcome.loaded).installation.made
    return {f"{item.body['kind']}/{item.name}" for item in made}


def test_it_has_the_values_of_its_page(resolve, catalog):
    outcome = resolve(cluster(), {"a": READY})

    assert outcome.values == {
        "gpuCluster.deployCR": True,
        "clusterPolicy.deployCR": False,
        "draDriver.computeDomains.enabled": False,
        "driver.nvidiaDriverCRD.enabled": True,
        "driver.nvidiaDriverCRD.deployDefaultCR": False,
        "operator.upgradeCRD": False,
    }
    assert [item.name for item in outcome.plan.driver_objects] == ["a-gpu-compiled"]
    made = predicted(outcome, catalog)
    assert {"DaemonSet/nvidia-dra-validator", "DaemonSet/nvidia-dra-driver-kubelet-plugin"} <= made
    assert not made & {"DaemonSet/nvidia-device-plugin-daemonset", "Deployment/nvidia-dra-driver-controller"}


def test_drivers_of_the_hosts_need_no_object(resolve):
    outcome = resolve(cluster(), {"a": ON_THE_HOST})

    assert outcome.values["driver.enabled"] is False
    assert outcome.plan.driver_objects == ()
    assert "driver.nvidiaDriverCRD.enabled" not in outcome.values


def test_nvlink_over_nodes_brings_compute_domains(resolve, catalog):
    outcome = resolve(cluster(), {"a": READY, "b": NVLINK})

    assert "draDriver.computeDomains.enabled" not in outcome.values, "the chart has it on"
    assert "Deployment/nvidia-dra-driver-controller" in predicted(outcome, catalog)
    smokes = {pool.name: (pool.smoke.claim, pool.smoke.domain) for pool in outcome.plan.pools}
    claim = ("resource.k8s.io/v1", "gpu.nvidia.com")
    assert smokes == {"a": (claim, None), "b": (claim, "resource.nvidia.com/v1beta1")}


def test_taints_are_tolerated_by_what_the_operator_makes(resolve):
    pool = {**READY, "nodes": "{taints: [{key: example.com/gpu, effect: NoSchedule}]}"}
    outcome = resolve(cluster(), {"a": pool})

    assert "example.com/gpu" in {item["key"] for item in outcome.values["daemonsets.tolerations"]}


def test_k0s_keeps_the_kubelet_elsewhere(resolve):
    outcome = resolve(cluster(distribution="k0s"), {"a": READY})

    assert outcome.values["hostPaths.kubeletRootDir"] == "/var/lib/k0s/kubelet"


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"kubernetes": "1.33"}, "gpu-cluster-needs"),
        ({"kubernetes": "1.34.1"}, "gpu-cluster-needs"),
        ({"release": "v26.3.3"}, "gpu-cluster-needs"),
        ({"distribution": "gke"}, "gpu-cluster-needs"),
        ({"more": ", upgradingFrom: v26.3.3"}, "gpu-cluster-change"),
        ({"more": ", draDriver: {featureGates: {DynamicMig: true}}"}, "dra-feature-gates"),
        ({"more": ", draDriver: {featureGates: {DynamicMIG: true, MPSSupport: true}}"}, "dra-feature-gates"),
        ({"more": ", draDriver: {featureGates: {DeviceMetadata: true}}"}, "dra-feature-gates"),
        ({"more": ", draDriver: {featureGates: {ConsumableShares: true}}"}, "dra-feature-gates"),
    ],
)
def test_a_cluster_that_can_t_have_one_is_refused(resolve, changed, rule):
    outcome = resolve(cluster(**changed), {"a": READY})

    assert rule in outcome.names
    assert outcome.plan is None


@pytest.mark.parametrize(
    "gates",
    [
        "{DynamicMIG: true}",
        "{DynamicMIG: true, MPSSupport: false}",
        "{PassthroughSupport: true, DeviceMetadata: true}",
        "{ComputeDomainCliques: false}",
    ],
)
def test_gates_that_go_together_are_passed_on(resolve, gates):
    outcome = resolve(cluster(more=f", draDriver: {{featureGates: {gates}}}"), {"a": READY})
    told = {path.rpartition(".")[2] for path in outcome.values if path.startswith("draDriver.featureGates.")}

    assert "dra-feature-gates" not in outcome.names
    assert all(gate in gates for gate in told)
    assert told


def test_shares_may_be_told_by_a_variable(resolve):
    env = "{gpus: {kubeletPlugin: {env: [{name: CONSUMABLE_SHARES, value: memory}]}}}"
    more = f", draDriver: {{featureGates: {{ConsumableShares: true}}}}, values: {{draDriver: {env}}}"

    assert "dra-feature-gates" not in resolve(cluster(more=more), {"a": READY}).names


@pytest.mark.parametrize("kubernetes", ["1.34", "1.34.2", "1.36"])
def test_an_unsaid_patch_is_noted(resolve, kubernetes):
    outcome = resolve(cluster(kubernetes), {"a": READY})
    notes = [item for item in outcome.diagnostics if "which 1.34 runs is not said" in item.message]

    assert outcome.plan is not None
    assert bool(notes) is (kubernetes == "1.34")


@pytest.mark.parametrize(
    ("pool", "word"),
    [
        ({"toolkit": "{source: operator}"}, "toolkit"),
        ({"gpu": "{product: A30, count: 2, mig: {layout: all-1g.6gb}}"}, "MIG"),
        ({"sharing": "{timeSlicing: {replicas: 2}}"}, "sharing"),
        ({"workload": "vm-passthrough", "driver": None}, "workload"),
    ],
)
def test_what_nothing_of_it_would_provide_is_refused(resolve, pool, word):
    found = [
        item for item in resolve(cluster(), {"a": {**READY, **pool}}).diagnostics if item.name == "stack-contradiction"
    ]

    assert len(found) == 1
    assert word in found[0].message


@pytest.mark.parametrize(("more", "told"), [("", True), (", draDriver: {featureGates: {DynamicMIG: true}}", False)])
def test_the_gate_that_makes_partitions_by_claims_is_named_unless_it_is_open(resolve, more, told):
    pool = {**READY, "gpu": "{product: A30, count: 2, mig: {layout: all-1g.6gb}}"}
    (found,) = [
        item for item in resolve(cluster(more=more), {"a": pool}).diagnostics if item.name == "stack-contradiction"
    ]

    assert ("feature gate DynamicMIG" in found.message) is told


@pytest.mark.parametrize(
    ("pool", "rule"),
    [
        ({"runtime": "{name: docker}"}, "gpu-cluster-needs"),
        ({"driver": "{source: container, version: 570.124.06}"}, "gpu-cluster-needs"),
        ({"gpu": "{product: NVIDIA-L40S, count: 1, multiNodeNvlink: true}"}, "compute-domain"),
    ],
)
def test_a_pool_that_can_t_serve_claims_is_refused(resolve, pool, rule):
    assert rule in resolve(cluster(), {"a": {**READY, **pool}}).names


@pytest.mark.parametrize(
    ("pool", "facts"),
    [
        ({"acknowledge": None}, {"cdi-runtime"}),
        ({**NVLINK, "acknowledge": None}, {"cdi-runtime"}),
        ({**NVLINK, "acknowledge": None, "driver": "{source: preinstalled}"}, {"cdi-runtime", "imex-masked"}),
    ],
)
def test_what_only_the_hosts_show_is_asked_for(resolve, pool, facts):
    (found,) = (item for item in resolve(cluster(), {"a": pool}).diagnostics if item.name == "host-facts-undeclared")

    assert {fact for fact in ("cdi-runtime", "imex-masked") if fact in found.help} == facts


def test_values_can_t_turn_a_stack_into_one(resolve):
    values = "values: {clusterPolicy: {deployCR: false}, gpuCluster: {deployCR: true}}"
    outcome = resolve({"stack": f"{{release: v26.7.0, {values}}}"}, {"a": {}})

    assert [item.help for item in outcome.diagnostics if "kind: gpu-cluster" in (item.help or "")]
    assert outcome.plan is None


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
