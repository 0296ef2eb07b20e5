"""What Kubernetes platforms need of their own: reboots for MIG, folders of kubelets and of the platform's drivers."""

from __future__ import annotations

import pytest

MIG = {"gpu": "{product: A100 40GB, count: 2, mig: {layout: all-1g.5gb}}"}
FOLDER = "/home/kubernetes/bin/nvidia"
REBOOT = [{"name": "WITH_REBOOT", "value": "true"}]
RELEASES = ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]


def on(distribution, release="v26.3.3", kubernetes="1.33", **stack):
    words = "".join(f", {key}: {value}" for key, value in stack.items())
    return {
        "kubernetes": f'{{version: "{kubernetes}", distribution: {distribution}}}',
        "stack": f"{{release: {release}{words}}}",
    }


@pytest.mark.parametrize("release", RELEASES)
def test_on_gke_a_change_of_mig_mode_reboots_the_node(resolve, release):
    assert resolve(on("gke", release), {"a": MIG}).values["migManager.env"] == REBOOT


@pytest.mark.parametrize(
    ("cluster", "pool"),
    [
        (on("gke"), {}),
        (on("kubeadm"), MIG),
        (on("eks"), MIG),
        (on("gke", values="{migManager: {env: [{name: WITH_REBOOT, value: 'false'}]}}"), MIG),
    ],
)
def test_other_nodes_reboot_only_where_somebody_says_it(resolve, cluster, pool):
    assert resolve(cluster, {"a": pool}).values.get("migManager.env") != REBOOT


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("distribution", ["k0s", "kubeadm"])
def test_the_kubelet_of_k0s_has_folders_of_its_own(resolve, release, distribution):
    paths = {"runtime": "{name: containerd, config: /etc/k0s/c.toml, socket: /run/k0s/containerd.sock}"}
    found = resolve(on(distribution, release), {"a": paths}).values.get("hostPaths.kubeletRootDir")

    known = release == "v26.7.0" and distribution == "k0s"
    assert found == ("/var/lib/k0s/kubelet" if known else None)


def test_who_sets_up_k0s_with_another_folder_says_so(resolve):
    cluster = on("k0s", "v26.7.0", values="{hostPaths: {kubeletRootDir: /data/kubelet}}")

    assert resolve(cluster).values["hostPaths.kubeletRootDir"] == "/data/kubelet"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("os", ['{id: ubuntu, version: "22.04"}', '{id: cos, version: "117"}'])
def test_googles_installer_puts_driver_and_toolkit_into_its_folder(resolve, release, os):
    values = resolve(on("gke", release), {"a": {"os": os, "driver": "{source: preinstalled}"}}).values

    assert values["hostPaths.driverInstallDir"] == FOLDER
    assert values["toolkit.installDir"] == FOLDER


@pytest.mark.parametrize(
    ("distribution", "driver", "folder"),
    [
        ("gke", "{source: container}", None),
        ("gke", "{source: preinstalled, installDir: /opt/nvidia}", "/opt/nvidia"),
        ("kubeadm", "{source: preinstalled}", None),
    ],
)
def test_other_drivers_are_where_they_are(resolve, distribution, driver, folder):
    values = resolve(on(distribution), {"a": {"driver": driver}}).values

    assert values.get("hostPaths.driverInstallDir") == folder
    assert "toolkit.installDir" not in values
