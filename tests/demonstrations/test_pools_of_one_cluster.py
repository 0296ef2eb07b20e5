"""Unlike pools, and two of what there may be once: the mistake as people made it, what is said of the profiles, the fix.

Pains 1 and 13 of the field, where profiles say what the nodes are.
"""

from __future__ import annotations

import pytest

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: prod}}
spec:
  kubernetes: {{version: "1.33", distribution: kubeadm}}
  stack: {{{stack}}}
  poolLabel: {label}
  delivery: {{engine: argocd, repoURL: https://git.example.com/gpu.git}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "{system}"}}
  runtime: {{name: containerd, version: "2.1"}}
  gpu: {{product: {gpu}, count: 4}}
  driver: {{source: container, version: {version}, upgradePolicy: {{}}{more}}}
"""
ONE, EACH = "release: v26.3.3", "release: v26.3.3, driverMode: nvidia-driver"


def cluster(stack=ONE, label="example.com/gpu-pool"):
    return CLUSTER.format(stack=stack, label=label)


def pool(name, system="22.04", gpu="NVIDIA-L4", version="580.126.20", more="", rest=""):
    return POOL.format(name=name, system=system, gpu=gpu, version=version, more=more) + rest


UNLIKE = {"a": pool("a"), "b": pool("b", system="24.04")}
# the profiles, what is said and where, the advice, the profiles corrected
MISTAKES = {
    "nodes of two systems under one ClusterPolicy (NVIDIA/gpu-operator issues 328, 94, 433)": (
        {"cluster": cluster(), **UNLIKE},
        "driver-disagreement at b.yaml:5",
        "driverMode: nvidia-driver",
        {"cluster": cluster(EACH), **UNLIKE},
    ),
    "another driver for the older GPUs (NVIDIA/gpu-operator issue 323, NVIDIA/aicr issue 2516)": (
        {"cluster": cluster(), "a": pool("a"), "v": pool("v", gpu="V100", version="535.261.03")},
        "driver-disagreement at v.yaml:8",
        "driverMode: nvidia-driver",
        {"cluster": cluster(EACH), "a": pool("a"), "v": pool("v", gpu="V100", version="535.261.03")},
    ),
    "RDMA for all, and some have no adapter (OCP-on-NERC/nerc-ocp-config pulls 926, 927)": (
        {"cluster": cluster(EACH), "a": pool("a", more=", rdma: true"), "v": pool("v", gpu="V100")},
        "field-without-effect at a.yaml:8",
        "nic: mellanox",
        {
            "cluster": cluster(EACH),
            "a": pool("a", more=", rdma: true", rest="  nic: mellanox\n"),
            "v": pool("v", gpu="V100"),
        },
    ),
    "two drivers for one node, because it has two names (NVIDIA/gpu-operator issue 2282)": (
        {
            "cluster": cluster(EACH),
            "a": pool("a", rest="  nodes: {labelValue: shared}\n"),
            "b": pool("b", rest="  nodes: {labelValue: shared}\n"),
        },
        "label-value-taken at b.yaml:9",
        "another",
        {
            "cluster": cluster(EACH),
            "a": pool("a", rest="  nodes: {labelValue: shared}\n"),
            "b": pool("b", rest="  nodes: {labelValue: other}\n"),
        },
    ),
    "the chart's default object beside those of pools (NVIDIA/gpu-operator issue 2259)": (
        {"cluster": cluster(EACH + ", values: {driver: {nvidiaDriverCRD: {deployDefaultCR: true}}}"), **UNLIKE},
        "value-taken at cluster.yaml:6",
        "remove it",
        {"cluster": cluster(EACH), **UNLIKE},
    ),
    "a label that something else writes": (
        {"cluster": cluster(label="nvidia.com/gpu.product"), "a": pool("a")},
        "reserved-label at cluster.yaml:7",
        "a prefix of your own",
        {"cluster": cluster(), "a": pool("a")},
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    mistake, said, advice, fix = MISTAKES[name]
    root = write_files(
        {
            f"{folder}/profiles/prod/{file}.yaml": text
            for folder, files in (("wrong", mistake), ("right", fix))
            for file, text in files.items()
        }
    )

    wrong, right = (run_cli(["generate", "--root", root / folder, "--format", "json"]) for folder in ("wrong", "right"))

    errors = [item for item in wrong.diagnostics if item["severity"] == "error"]
    assert (wrong.code, right.code) == (1, 0)
    assert [
        f"{item['name']} at {item['primary']['path'].rpartition('/')[2]}:{item['primary']['line']}" for item in errors
    ] == [said]
    assert advice in errors[0]["help"]
    assert [item["name"] for item in right.diagnostics if item["severity"] == "error"] == []
