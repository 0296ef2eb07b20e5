"""The stack without the operator: its forms, its runtime, sharing, partitions and discovery, by release."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.gpu.catalog.chart_workloads import chart_releases, chart_versions

MANUAL = {"stack": "{kind: device-plugin, release: v0.17.1}"}
POOL = {"driver": "{source: preinstalled, version: 550.163.01}", "runtime": "{name: containerd}"}
RELEASES = ["v0.15.1", "v0.17.1", "v0.20.0"]
CLASSES = {"talos": "nvidia", "rke2": "nvidia", "k3s": "nvidia"}
DISTRIBUTIONS = ["kubeadm", "rke2", "k3s", "microk8s", "k0s", "eks", "gke", "aks", "talos"]


def cluster(distribution, release="v0.17.1"):
    return {
        "kubernetes": f'{{version: "1.33", distribution: {distribution}}}',
        "stack": f"{{kind: device-plugin, release: {release}, dcgmExporter: {{release: 4.5.3-4.8.2}}}}",
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_pods_with_gpus_ask_for_the_class_of_a_runtime_that_is_no_default(resolve, distribution, release):
    pool = {**POOL, "os": '{id: talos, version: "v1.12.0"}', "driver": None} if distribution == "talos" else POOL
    outcome = resolve(cluster(distribution, release), {"a": pool})
    units = {unit.name: unit for unit in outcome.plan.units}
    plugin = {item.body["kind"]: item.body for item in units["device-plugin"].objects}
    wanted = CLASSES.get(distribution)

    assert plugin["DaemonSet"]["spec"]["template"]["spec"].get("runtimeClassName") == wanted
    assert outcome.pool("a").smoke.runtime_class == wanted
    exporter = {setting.dotted: setting.value for setting in units["dcgm-exporter"].values}
    assert exporter.get("runtimeClassName") == wanted
    assert ("RuntimeClass" in plugin) == (distribution == "talos")


def test_the_class_of_talos_has_the_runtimes_name(resolve):
    pool = {**POOL, "os": '{id: talos, version: "v1.12.0"}', "driver": None}
    objects = resolve(cluster("talos"), {"a": pool}).plan.units[0].objects

    assert objects[1].body == {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "nvidia"},
        "handler": "nvidia",
    }


@pytest.mark.parametrize(("distribution", "told"), [("kubeadm", True), ("eks", True), ("k3s", False)])
def test_else_it_is_said_what_the_default_has_to_be(resolve, distribution, told):
    notes = resolve(cluster(distribution), {"a": POOL}).plan.notes

    assert any("default runtime" in note for note in notes) is told


FULL = "{kind: device-plugin, release: %s, gpuFeatureDiscovery: true}"
ANSWERED = {"acknowledge": "[{fact: mig-partitions}]"}
A100 = "product: NVIDIA-A100-SXM4-80GB, count: 2"
SLICED = {**POOL, "sharing": "{timeSlicing: {replicas: 4}}"}
SHARED = {**POOL, "sharing": "{mps: {replicas: 4}}"}
SAME = {**POOL, **ANSWERED, "gpu": f"{{{A100}, mig: {{layout: all-1g.10gb}}}}"}
UNLIKE = {**POOL, **ANSWERED, "gpu": f"{{{A100}, mig: {{layout: all-balanced}}}}"}
EVERY_RELEASE = chart_releases("nvidia-device-plugin")


def values(unit):
    return {setting.dotted: setting.value for setting in unit.values}


def stack_of(outcome):
    assert [item.code for item in outcome.diagnostics if item.severity == "error"] == []
    return {unit.name: unit for unit in outcome.plan.units}


def test_whole_gpus_need_no_more_than_the_plain_daemon_set(resolve):
    units = stack_of(resolve(MANUAL, {"a": POOL}))

    assert units["device-plugin"].chart is None
    assert list(units) == ["device-plugin"]


@pytest.mark.parametrize("release", EVERY_RELEASE)
@pytest.mark.parametrize(
    ("pool", "strategy", "offered"),
    [
        (SLICED, "none", ("nvidia.com/gpu",)),
        (SHARED, "none", ("nvidia.com/gpu",)),
        (SAME, "single", ("nvidia.com/gpu",)),
        (UNLIKE, "mixed", ("nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.40gb")),
    ],
)
def test_what_shares_or_partitions_takes_the_plugins_own_chart(resolve, release, pool, strategy, offered):
    outcome = resolve({"stack": f"{{kind: device-plugin, release: {release}}}"}, {"a": pool})
    unit = stack_of(outcome)["device-plugin"]
    found = values(unit)

    assert (unit.chart.name, unit.chart.version) == ("nvidia-device-plugin", release.removeprefix("v"))
    assert found["migStrategy"] == strategy
    assert outcome.pool("a").resources == offered
    assert outcome.plan.values == ()
    assert outcome.pool("a").smoke.resource == offered[0]


@pytest.mark.parametrize("pool", [SLICED, SHARED])
def test_a_pools_configuration_is_chosen_by_a_label_and_a_change_rolls_the_plugin(resolve, pool):
    def planned(replicas):
        sharing = pool["sharing"].replace("4", str(replicas))
        return resolve(MANUAL, {"a": {**pool, "sharing": sharing}, "b": POOL})

    outcome, other = planned(4), planned(5)
    (config,), (changed,) = outcome.plan.config_maps, other.plan.config_maps
    found = values(stack_of(outcome)["device-plugin"])
    labels = {label.key: label.value for label in outcome.pool("a").labels}

    assert found["config.name"] == config.body["metadata"]["name"] != changed.body["metadata"]["name"]
    assert found["config.default"] == "default"
    assert sorted(config.body["data"]) == ["a", "default"]
    assert labels["nvidia.com/device-plugin.config"] == "a"
    assert "nvidia.com/device-plugin.config" not in {label.key for label in outcome.pool("b").labels}


def test_without_partitions_the_plugin_gets_no_capabilities(resolve):
    outcome = resolve(MANUAL, {"a": SLICED})
    unit = stack_of(outcome)["device-plugin"]
    (plugin,) = [
        item
        for item in stack_objects(unit.chart.name, unit.chart.version, values_tree(unit.values), "kube-system").objects
        if item["metadata"]["name"] == "nvidia-device-plugin" and item["kind"] == "DaemonSet"
    ]
    contexts = [item["securityContext"] for item in plugin["spec"]["template"]["spec"]["containers"]]

    assert contexts == [{"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}] * 2


@pytest.mark.parametrize(("stack", "by_the_provisioner"), [("MANUAL", True), ("FULL", False)])
def test_the_control_daemon_of_mps_finds_its_nodes(resolve, stack, by_the_provisioner):
    given = MANUAL if stack == "MANUAL" else {"stack": FULL % "v0.17.4"}
    labels = {label.key for label in resolve(given, {"a": SHARED}).pool("a").labels}

    assert ("nvidia.com/mps.capable" in labels) is by_the_provisioner


@pytest.mark.parametrize("release", EVERY_RELEASE)
def test_gpu_feature_discovery_brings_what_it_writes_through(resolve, release):
    units = stack_of(resolve({"stack": FULL % release}, {"a": POOL}))
    found = values(units["device-plugin"])

    assert list(units) == ["node-feature-discovery", "device-plugin"]
    assert (found["gfd.enabled"], found["nfd.enabled"]) == (True, False)
    assert units["node-feature-discovery"].chart.version in chart_versions("node-feature-discovery")


def test_discovery_of_others_is_left_to_them(resolve):
    outcome = resolve({"stack": FULL % "v0.20.0", "nfd": "{provider: external}"}, {"a": POOL})

    assert list(stack_of(outcome)) == ["device-plugin"]
    assert any("features.d" in note for note in outcome.plan.notes)


def test_mps_and_mixed_partitions_need_a_cluster_each(resolve):
    outcome = resolve(MANUAL, {"a": SHARED, "b": UNLIKE})

    assert "PSM241" in [item.code for item in outcome.diagnostics]


def test_no_label_asks_for_a_mig_manager_that_is_not_there(resolve):
    outcome = resolve(MANUAL, {"a": SAME})

    assert "nvidia.com/mig.config" not in {label.key for label in outcome.pool("a").labels}
    assert outcome.plan.config_maps == ()


@pytest.mark.parametrize(("release", "suggestion"), [("v0.17.9", "v0.17.4"), ("v0.14.5", "v0.15.0")])
def test_an_unknown_release_has_suggestions(resolve, release, suggestion):
    outcome = resolve({"stack": f"{{kind: device-plugin, release: {release}}}"}, {"a": POOL})
    (found,) = [item for item in outcome.diagnostics if item.code == "PSM201"]

    assert suggestion in found.help


def test_the_kubelet_of_k0s_is_found_by_the_plain_form_alone(resolve):
    plain = resolve(cluster("k0s"), {"a": POOL})
    (volume,) = stack_of(plain)["device-plugin"].objects[0].body["spec"]["template"]["spec"]["volumes"]
    shared = resolve(cluster("k0s"), {"a": SLICED})

    assert volume["hostPath"]["path"] == "/var/lib/k0s/kubelet/device-plugins"
    assert "PSM254" in [item.code for item in shared.diagnostics]
