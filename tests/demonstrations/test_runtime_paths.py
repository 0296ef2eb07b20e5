"""Paths of containerd that stop nodes: the mistake as people made it, what poolsmith says, and the values corrected."""

from __future__ import annotations

import pytest

K3S = "/var/lib/rancher/k3s/agent/etc/containerd"
RKE2 = "/var/lib/rancher/rke2/agent/etc/containerd"
MICROK8S = "/var/snap/microk8s/current/args"


def toolkit(version=None, **variables):
    lines = [f"    - {{name: {name}, value: {value}}}\n" for name, value in variables.items()]
    return "toolkit:\n" + (f"  version: {version}\n" if version else "") + "  env:\n" + "".join(lines)


# the mistake, the release, what is said, words of the advice, the fix
MISTAKES = {
    "RKE2 does not come back after a reboot (NVIDIA/gpu-operator issue 992)": (
        toolkit(CONTAINERD_CONFIG=f"{RKE2}/config.toml.tmpl", CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock"),
        "v25.3.4",
        "error runtime-config-template at 3:33",
        f"{RKE2}/config.toml`",
        toolkit(CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock"),
    ),
    "operator pods are green and CUDA fails, with the default socket on RKE2 (issues 406, 522)": (
        toolkit(CONTAINERD_CONFIG=f"{RKE2}/config.toml"),
        "v25.3.4",
        "error runtime-paths-disagree at 3:33",
        "/run/k3s/containerd/containerd.sock",
        toolkit(CONTAINERD_CONFIG=f"{RKE2}/config.toml", CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock"),
    ),
    "containerd's own paths on a host that has microk8s as well (issue 1367)": (
        toolkit(
            CONTAINERD_CONFIG="/etc/containerd/config.toml",
            CONTAINERD_SOCKET="/var/snap/microk8s/common/run/containerd.sock",
        ),
        "v25.3.4",
        "error runtime-paths-disagree at 4:33",
        "give both as one distribution has them",
        toolkit(
            CONTAINERD_CONFIG=f"{MICROK8S}/containerd-template.toml",
            CONTAINERD_SOCKET="/var/snap/microk8s/common/run/containerd.sock",
        ),
    ),
    "k0s loses its nodes with 25.10 (issues 1323, 1835)": (
        toolkit(CONTAINERD_CONFIG="/run/k0s/containerd-cri.toml", CONTAINERD_SOCKET="/run/k0s/containerd.sock"),
        "v25.10.1",
        "error runtime-config-source-missing at 3:33",
        "RUNTIME_DROP_IN_CONFIG: /etc/k0s/containerd.d/nvidia.toml",
        toolkit(
            CONTAINERD_CONFIG="/run/k0s/containerd-cri.toml",
            CONTAINERD_SOCKET="/run/k0s/containerd.sock",
            RUNTIME_DROP_IN_CONFIG="/etc/k0s/containerd.d/nvidia.toml",
        ),
    ),
    "microk8s needs one variable more from 25.10 on (canonical/microk8s-core-addons 364)": (
        toolkit(
            CONTAINERD_CONFIG=f"{MICROK8S}/containerd-template.toml",
            CONTAINERD_SOCKET="/var/snap/microk8s/common/run/containerd.sock",
        ),
        "v25.10.1",
        "error runtime-config-source-missing at 3:33",
        f"RUNTIME_CONFIG_SOURCE: file={MICROK8S}/containerd.toml",
        toolkit(
            CONTAINERD_CONFIG=f"{MICROK8S}/containerd-template.toml",
            CONTAINERD_SOCKET="/var/snap/microk8s/common/run/containerd.sock",
            RUNTIME_CONFIG_SOURCE=f"file={MICROK8S}/containerd.toml",
        ),
    ),
    "k3s, whose containerd never reads /etc/containerd/conf.d": (
        toolkit(CONTAINERD_CONFIG=f"{K3S}/config.toml", CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock"),
        "v26.3.3",
        "warning runtime-config-source-missing at 3:33",
        "config-v3.toml.d/99-nvidia.toml",
        toolkit(
            CONTAINERD_CONFIG=f"{K3S}/config.toml",
            CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock",
            RUNTIME_CONFIG_SOURCE=f"file={K3S}/config.toml",
            RUNTIME_DROP_IN_CONFIG=f"{K3S}/config-v3.toml.d/99-nvidia.toml",
        ),
    ),
    "a toolkit of two years ago meets containerd 2 (issue 2060)": (
        "toolkit:\n  version: v1.14.6-centos7\n",
        "v25.10.1",
        "error toolkit-image-unfit at 2:3; error vulnerable-toolkit at 2:3",
        "v1.18.0",
        "toolkit:\n  enabled: true\n",
    ),
    "a variable that the release does not know yet": (
        toolkit(RUNTIME_DROP_IN_CONFIG="/etc/containerd/conf.d/99-nvidia.toml"),
        "v25.3.4",
        "warning toolkit-variable at 3:8",
        "pin v26.3.0",
        toolkit(CONTAINERD_SOCKET="/run/containerd/containerd.sock"),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    mistake, release, said, advice, fix = MISTAKES[name]
    root = write_files({"values.yaml": mistake, "fixed.yaml": fix})

    wrong = run_cli(["check", "--root", root, "--release", release, "--format", "json", root / "values.yaml"])
    right = run_cli(["check", "--root", root, "--release", release, "--format", "json", root / "fixed.yaml"])
    told = [
        f"{item['severity']} {item['name']} at {item['primary']['line']}:{item['primary']['column']}"
        for item in wrong.diagnostics
    ]

    assert "; ".join(told) == said
    assert advice in " ".join(item["help"] for item in wrong.diagnostics)
    assert wrong.code == ("error" in said)
    assert (right.code, right.diagnostics) == (0, [])
