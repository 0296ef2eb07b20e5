"""The real kustomize makes of pools/ exactly the toolkits that the ledger, the grants and the list of workloads hold."""

from __future__ import annotations

import subprocess

import pytest
import yaml

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: lab}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{release: {release}, driverMode: nvidia-driver{values}}}
  delivery: {{engine: {engine}, repoURL: https://git.example.com/gpu.git}}
  registry: {{mirrors: {{nvcr.io: registry.example.com/nvcr}}, pullSecrets: [ngc]}}
  acknowledge: [{{fact: mixed-runtimes}}]
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  runtime: {runtime}
  gpu: {{product: L40S, count: 8}}
  driver: {{source: container, version: 570.124.06, upgradePolicy: {{}}}}
  nodes: {{labelValue: "{label}", taints: [{{key: team, value: {name}, effect: NoSchedule}}]}}
"""
CRIO, DOCKER = "{name: cri-o}", "{name: docker}"
LONG = "a-pool-whose-name-is-so-long-that-it-does-not-fit-into-a-label"
LABELS = {"b": "1e3"}
"""What YAML could take for a number."""
CASES = [
    ("v24.6.1", "argocd", "", {"b": DOCKER}),
    ("v24.9.2", "flux", ", values: {cdi: {enabled: true}}", {"b": CRIO, "c": CRIO}),
    ("v25.3.4", "argocd", "", {"b": CRIO, "c": DOCKER, LONG: "{name: cri-o, config: /opt/crio/nvidia.conf}"}),
    ("v25.10.1", "flux", ", values: {cdi: {enabled: false}}", {"b": CRIO}),
    ("v26.3.3", "argocd", ", values: {toolkit: {installDir: /opt/nvidia}}", {"b": CRIO, LONG: CRIO}),
    ("v26.7.0", "flux", ", values: {cdi: {nriPluginEnabled: true}}", {"b": '{name: cri-o, version: "1.34"}'}),
    ("v26.7.0", "argocd", "", {"b": "{name: containerd, config: /opt/c.toml}\n  toolkit: {source: overlay}"}),
]


def key(body):
    return body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]


@pytest.mark.rows(2, "a row takes 0.31 s; each value of each column is seen first")
@pytest.mark.tool("kustomize")
@pytest.mark.parametrize(("release", "engine", "values", "pools"), CASES, ids=[case[0] for case in CASES])
def test_what_kustomize_builds_is_what_is_predicted(write_files, run_cli, release, engine, values, pools):
    profiles = {"profiles/lab/cluster.yaml": CLUSTER.format(release=release, engine=engine, values=values)}
    for name, runtime in {"a": "{name: containerd}", **pools}.items():
        profiles[f"profiles/lab/{name}.yaml"] = POOL.format(name=name, label=LABELS.get(name, name), runtime=runtime)
    root = write_files(profiles)
    generated = run_cli(["generate", "--root", root])
    assert generated.code == 0, generated.out
    cluster = root / "output/clusters/lab"
    run = subprocess.run(
        ["kustomize", "build", str(cluster / "pools")], capture_output=True, text=True, timeout=60, check=False
    )
    built = {key(body): body for body in yaml.safe_load_all(run.stdout) if body["kind"] != "NVIDIADriver"}
    workloads = yaml.safe_load_all((cluster / "expected/workloads.yaml").read_text("utf-8"))
    predicted = {key(body): body for body in workloads if body["metadata"]["name"].startswith("poolsmith-toolkit")}

    assert (run.returncode, run.stderr) == (0, "")
    assert built == predicted
    assert len(predicted) == 5 * len(pools)
    assert {body["metadata"]["namespace"] for body in built.values()} == {"gpu-operator"}


@pytest.mark.tool("kustomize")
def test_the_base_builds_by_itself(repository):
    base = repository / "tests/golden/mixed-runtimes/expected/clusters/lab/toolkit-base"
    run = subprocess.run(["kustomize", "build", str(base)], capture_output=True, text=True, timeout=60, check=False)

    assert run.returncode == 0, run.stderr
    assert {body["kind"] for body in yaml.safe_load_all(run.stdout)} == {
        "ConfigMap",
        "DaemonSet",
        "Role",
        "RoleBinding",
        "ServiceAccount",
    }
