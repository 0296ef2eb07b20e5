"""The device plugin without the operator: which runtime its pods get, by distribution."""

from __future__ import annotations

import pytest

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
