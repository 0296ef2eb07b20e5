"""Container runtimes: the mistake as people made it, what poolsmith says at the profile's line, and the profile corrected."""

from __future__ import annotations

import pytest
import yaml

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: lab}}
spec:
  kubernetes: {{version: "1.33", distribution: {distribution}}}
  stack: {stack}
  delivery: {{engine: argocd, repoURL: https://git.example.com/gpu.git}}
{more}"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  runtime: {runtime}
  gpu: {{product: L40S, count: 8}}
  driver: {{source: container, version: 580.126.20, upgradePolicy: {{}}}}
"""
RISK = "  acknowledge: [{fact: mixed-runtimes, by: platform-team, date: 2026-11-20}]\n"
K3S = "/var/lib/rancher/k3s/agent/etc/containerd"


def profiles(distribution, stack, runtimes, more=""):
    files = {"profiles/lab/cluster.yaml": CLUSTER.format(distribution=distribution, stack=stack, more=more)}
    for name, runtime in runtimes.items():
        files[f"profiles/lab/{name}.yaml"] = POOL.format(name=name, runtime=runtime)
    return files


# the mistake, what is said and where, the advice, the fix
MISTAKES = {
    "containerd and cri-o in one cluster (NVIDIA/gpu-operator issue 1528)": (
        profiles("kubeadm", "{release: v26.3.3}", {"a": "{name: containerd}", "b": "{name: cri-o}"}),
        "error mixed-runtimes at profiles/lab/b.yaml:6:13",
        "acknowledge: [{fact: mixed-runtimes",
        profiles("kubeadm", "{release: v26.3.3}", {"a": "{name: containerd}", "b": "{name: cri-o}"}, RISK),
    ),
    "one containerd node, and the docker nodes crash (NVIDIA/gpu-operator issue 620)": (
        profiles("kubeadm", "{release: v26.3.3}", {"a": "{name: docker}", "b": "{name: containerd}"}, RISK),
        "error runtimes-exclude at profiles/lab/a.yaml:6:13",
        "give all pools of the cluster one runtime",
        profiles("kubeadm", "{release: v26.3.3}", {"a": "{name: containerd}", "b": "{name: containerd}"}),
    ),
    "docker and cri-o: whichever node is listed last decides": (
        profiles("kubeadm", "{release: v25.3.4}", {"a": "{name: cri-o}", "b": "{name: docker}"}, RISK),
        "error runtimes-exclude at profiles/lab/b.yaml:6:13",
        "a cluster of its own",
        profiles("kubeadm", "{release: v25.3.4}", {"a": "{name: cri-o}", "b": "{name: cri-o}"}),
    ),
    "the documented template of RKE2 (NVIDIA/gpu-operator issue 992)": (
        profiles(
            "rke2",
            "{release: v26.3.3}",
            {"a": "{name: containerd, config: /var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl}"},
        ),
        "error runtime-path at profiles/lab/a.yaml:6:31",
        "remove `runtime.config`",
        profiles("rke2", "{release: v26.3.3}", {"a": "{name: containerd}"}),
    ),
    "the usual socket on RKE2 (NVIDIA/gpu-operator issue 522)": (
        profiles("rke2", "{release: v26.3.3}", {"a": "{name: containerd, socket: /run/containerd/containerd.sock}"}),
        "warning runtime-path at profiles/lab/a.yaml:6:31",
        "remove `runtime.socket`",
        profiles("rke2", "{release: v26.3.3}", {"a": "{name: containerd}"}),
    ),
    "half of k3s moved to another folder": (
        profiles("k3s", "{release: v26.3.3}", {"a": "{name: containerd, config: /data/containerd/config.toml}"}),
        "error runtime-path at profiles/lab/a.yaml:6:31",
        "add `dropIn: /data/containerd/config-v3.toml.d/99-nvidia.toml`",
        profiles("k3s", "{release: v26.3.3}", {"a": "{name: containerd}"}),
    ),
    "k3s with containerd 1.7, which has no folder for drop-in files": (
        profiles("k3s", "{release: v26.3.3}", {"a": '{name: containerd, version: "1.7.23"}'}),
        "error runtime-too-old at profiles/lab/a.yaml:6:31",
        "upgrade containerd to 2.0",
        profiles("k3s", "{release: v26.3.3}", {"a": '{name: containerd, version: "2.1"}'}),
    ),
    "containerd 2 with a configuration of version 2 (NVIDIA/aicr issue 1688)": (
        profiles("kubeadm", "{release: v26.3.3}", {"a": '{name: containerd, version: "2.3.2"}'}),
        "note containerd-config-version at profiles/lab/a.yaml:6:31",
        "runtime.configVersion",
        profiles("kubeadm", "{release: v26.3.3}", {"a": '{name: containerd, version: "2.3.2", configVersion: 2}'}),
    ),
    "an old pin of the toolkit meets containerd 2 (NVIDIA/gpu-operator issue 2060)": (
        profiles(
            "eks",
            "{release: v24.9.2, values: {toolkit: {version: v1.14.6-centos7}}}",
            {"a": '{name: containerd, version: "2.1"}'},
        ),
        "error toolkit-too-old at profiles/lab/cluster.yaml:6:48",
        "write 1.17.4 or later",
        profiles("eks", "{release: v24.9.2}", {"a": '{name: containerd, version: "2.1"}'}),
    ),
    "NRI on a containerd without it (LMCache/LMCache pull request 5057)": (
        profiles(
            "kubeadm",
            "{release: v26.3.3, values: {cdi: {nriPluginEnabled: true}}}",
            {"a": '{name: containerd, version: "2.0.5"}'},
        ),
        "error nri-missing at profiles/lab/a.yaml:6:31",
        "containerd 1.7.30 and later below 2.0 or 2.1 and later",
        profiles(
            "kubeadm",
            "{release: v26.3.3, values: {cdi: {nriPluginEnabled: true}}}",
            {"a": '{name: containerd, version: "2.1.5"}'},
        ),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    mistake, said, advice, fix = MISTAKES[name]
    root = write_files(mistake)
    wrong = run_cli(["generate", "--root", root, "--format", "json"])
    for path in (root / "profiles/lab").iterdir():
        path.unlink()
    write_files(fix)
    right = run_cli(["generate", "--root", root, "--format", "json"])

    rule = said.split()[1]
    found = {
        f"{item['severity']} {item['name']} at {item['primary']['path']}:{item['primary']['line']}"
        f":{item['primary']['column']}": item["help"]
        for item in wrong.diagnostics
        if item["name"] == rule
    }
    assert said in found
    assert advice in found[said]
    assert wrong.code == int(said.startswith("error"))
    assert right.code == 0
    assert [item for item in right.diagnostics if item["name"] == rule] == []


def test_what_the_risk_buys(write_files, run_cli):
    """Each pool gets one toolkit, made for its runtime; the operator's stays away by the label that is asked for."""
    root = write_files(
        profiles("kubeadm", "{release: v26.3.3}", {"a": "{name: containerd}", "b": "{name: cri-o}"}, RISK)
    )
    assert run_cli(["generate", "--root", root]).code == 0
    cluster = root / "output/clusters/lab"
    ledger = yaml.safe_load((cluster / "privileges.yaml").read_text("utf-8"))
    toolkits = {pool: [item for item in ledger["pools"][pool]["workloads"] if "toolkit" in item] for pool in ("a", "b")}
    labels = yaml.safe_load((cluster / "expected/node-labels/b.yaml").read_text("utf-8"))["provisioner"]["labels"]

    assert toolkits == {
        "a": ["gpu-operator/DaemonSet/nvidia-container-toolkit-daemonset"],
        "b": ["gpu-operator/DaemonSet/poolsmith-toolkit-b"],
    }
    assert labels["nvidia.com/gpu.deploy.container-toolkit"] == "false"
    assert "profiles/lab/b.yaml" in str(
        yaml.safe_load((cluster / "expected/node-labels/b.yaml").read_text("utf-8"))["because"]
    )


def test_containerd_2_reads_what_its_own_file_says(write_files, run_cli):
    runtime = '{name: containerd, version: "2.3.2", configVersion: 2}'
    root = write_files(profiles("kubeadm", "{release: v26.3.3}", {"a": runtime}))
    assert run_cli(["generate", "--root", root]).code == 0
    values = yaml.safe_load((root / "output/clusters/lab/platform/values/gpu-operator.yaml").read_text("utf-8"))

    assert values["toolkit"]["env"] == [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file=/etc/containerd/config.toml"}]
