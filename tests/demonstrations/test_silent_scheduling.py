"""Pods that never come, and two of one thing: the mistake as people made it, what poolsmith says, and the files corrected."""

from __future__ import annotations

import pytest

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
    driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: false}}
"""
OPERANDS = """\
    daemonsets:
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
        - {key: team, operator: Exists, effect: NoSchedule}
"""
WORKER = """\
    node-feature-discovery:
      worker:
        tolerations:
          - {key: node-role.kubernetes.io/control-plane, operator: Equal, value: "", effect: NoSchedule}
          - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
"""
TEAM = "          - {key: team, operator: Exists, effect: NoSchedule}\n"
PRESENT = WORKER.replace(
    "{key: nvidia.com/gpu, operator: Exists,", "{key: nvidia.com/gpu, operator: Equal, value: present,"
)
NODE = "- {name: gpu-1, runtime: 'containerd://1.7.24', taints: [TAINTS]}\n"
NFD = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nfd, namespace: nfd}
spec:
  interval: 1h
  chart: {spec: {chart: node-feature-discovery, version: 0.18.3, sourceRef: {kind: HelmRepository, name: nfd}}}
"""


def node(*taints):
    """No label: discovery never ran there. The usual taint tells that it has GPUs."""
    return NODE.replace("TAINTS", ", ".join(("{key: nvidia.com/gpu, value: 'true', effect: NoSchedule}", *taints)))


TEAMS = node("{key: team, value: ml, effect: NoSchedule}")
# the mistake, the nodes, other files, what is said, the advice, the fix
MISTAKES = {
    "the worker tolerates the value `present`, and the nodes have `true` (NVIDIA/k8s-device-plugin issue 1934)": (
        RELEASE + PRESENT,
        node(),
        {},
        "toleration-of-another-value at 13:52",
        "operator: Exists",
        RELEASE + WORKER,
    ),
    "a taint of a new machine set that no operand tolerates (NVIDIA/gpu-operator issue 397)": (
        RELEASE + WORKER + TEAM,
        TEAMS,
        {},
        "untolerated-taint at 7:3",
        "to `daemonsets.tolerations`",
        RELEASE + OPERANDS + WORKER + TEAM,
    ),
    "operands tolerate it, and the worker that would label the node does not (NVIDIA/gpu-operator issue 423)": (
        RELEASE + OPERANDS,
        TEAMS,
        {},
        "undiscovered-nodes at 7:3",
        "to `node-feature-discovery.worker.tolerations`",
        RELEASE + OPERANDS + WORKER + TEAM,
    ),
    "Node Feature Discovery, once from its own chart and once from the operator's (NVIDIA/gpu-operator issue 87)": (
        RELEASE,
        node(),
        {"nfd.yaml": NFD + "  values: {worker: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}}\n"},
        "one-feature-discovery at 7:3",
        "nfd: {enabled: false}",
        RELEASE + "    nfd: {enabled: false}\n",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    mistake, nodes, others, said, advice, fix = MISTAKES[name]
    root = write_files(
        {
            "nodes.yaml": nodes,
            "wrong/release.yaml": mistake,
            "right/release.yaml": fix,
            **{f"{folder}/{path}": text for folder in ("wrong", "right") for path, text in others.items()},
        }
    )

    def check(folder):
        flags = ["--root", root, "--nodes", root / "nodes.yaml", "--format", "json"]
        return run_cli(["check", *flags, root / folder])

    wrong, right = check("wrong"), check("right")

    (finding,) = [item for item in wrong.diagnostics if item["severity"] == "error"]
    place = finding["primary"]
    assert (wrong.code, right.code) == (1, 0)
    assert f"{finding['name']} at {place['line']}:{place['column']}" == said
    assert advice in finding["help"]
    assert right.diagnostics == []
    assert right.report["summary"]["checkedByKind"]["GPU setups"] == 1


def test_a_profile_that_says_the_taint_makes_the_mistake_impossible(write_files, run_cli):
    """Operands, worker and the pool's driver object get what its nodes need."""
    root = write_files(
        {
            "profiles/prod/cluster.yaml": (
                "apiVersion: poolsmith/v1\nkind: Cluster\nmetadata: {name: prod}\nspec:\n"
                '  kubernetes: {version: "1.33", distribution: kubeadm}\n'
                "  stack: {release: v26.3.3, driverMode: nvidia-driver}\n"
                "  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}\n"
            ),
            "profiles/prod/a.yaml": (
                "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n"
                "  nodes:\n"
                "    autoscaled: true\n"
                "    taints: [{key: team, value: ml, effect: NoSchedule}]\n"
                "    startupTaints: [{key: readiness.k8s.io/gpu, effect: NoSchedule}]\n"
                '  os: {id: ubuntu, version: "22.04"}\n  runtime: {name: containerd, version: "2.1"}\n'
                "  gpu: {product: NVIDIA-L4, count: 1}\n  driver: {source: container, version: 580.126.20}\n"
            ),
        }
    )

    assert run_cli(["generate", "--root", root]).code == 0
    assert run_cli(["check", "--root", root]).code == 0

    output = root / "output" / "clusters" / "prod"
    values = (output / "platform/values/gpu-operator.yaml").read_text()
    driver = next((output / "pools/a").glob("*driver*")).read_text()
    for key in ("team", "readiness.k8s.io/gpu"):
        assert values.count(f"key: {key}") == 2
        assert driver.count(f"key: {key}") == 1
    assert "readiness.k8s.io" not in (output / "smoke/a.yaml").read_text()
