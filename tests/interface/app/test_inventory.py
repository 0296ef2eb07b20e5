"""`inventory` says what each pool has, in forms that do nothing to whoever reads them."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest

from poolsmith.interface.app.schemas import schema_text

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3, driverMode: nvidia-driver}
  owner: platform
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  runtime: {{name: containerd, version: "2.1"}}
  gpu: {{product: NVIDIA-A100-SXM4-80GB, count: 8{mig}}}
  driver: {{source: container, version: 580.126.20}}
{more}"""
OWN = ", mig: {layout: own, devices: [{devices: [0, 1], migDevices: {1g.10gb: 7}}, {devices: [2], migEnabled: false}]}"


@pytest.fixture
def inventory(write_files, run_cli):
    def run(form="json", **pools):
        files = {"profiles/prod/cluster.yaml": CLUSTER}
        for name, (mig, more) in pools.items():
            files[f"profiles/prod/{name}.yaml"] = POOL.format(name=name, mig=mig, more=more)
        return run_cli(["inventory", "--root", write_files(files), "--format", form])

    return run


def resources(result, pool):
    (found,) = [item for item in json.loads(result.out)["pools"] if item["pool"] == pool]
    return {item["name"]: item["count"] for item in found["resources"]}


@pytest.mark.parametrize(
    ("mig", "more", "expected"),
    [
        ("", "", {"nvidia.com/gpu": 8}),
        ("", "  sharing: {timeSlicing: {replicas: 4}}\n", {"nvidia.com/gpu": 32}),
        ("", "  sharing: {timeSlicing: {replicas: 4, renameByDefault: true}}\n", {"nvidia.com/gpu.shared": 32}),
        (", mig: {layout: all-disabled}", "", {"nvidia.com/gpu": 8}),
        (", mig: {layout: all-1g.10gb}", "", {"nvidia.com/gpu": None}),
        (OWN, "", {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 14}),
    ],
)
def test_resources_are_those_of_each_node(inventory, mig, more, expected):
    assert resources(inventory(a=(mig, more)), "a") == expected


def test_a_table_has_these_columns(inventory):
    (head, row) = csv.reader(io.StringIO(inventory("csv", a=("", "")).out))

    assert head == [
        *(
            "cluster",
            "pool",
            "owner",
            "ring",
            "release",
            "selector",
            "taints",
            "nodes",
            "product",
            "gpus",
            "mig_layout",
        ),
        *("resources", "runtime_classes", "driver", "driver_version", "os", "kernels", "arch", "workload", "profile"),
    ]
    assert len(row) == len(head)


def test_the_form_is_the_published_one(inventory, run_cli, repository):
    schema = json.loads(schema_text("inventory"))
    for text in (
        inventory(a=("", "  owner: team-a\n"), b=("", "")).out,
        run_cli(["inventory", "--root", repository, "--format", "json"]).out,
    ):
        jsonschema.validate(json.loads(text), schema)
        assert text.isascii()


def test_a_pool_has_its_own_owner_or_that_of_its_cluster(inventory):
    found = json.loads(inventory(a=("", "  owner: team-a\n"), b=("", "")).out)["pools"]

    assert [(item["pool"], item["owner"]) for item in found] == [("a", "team-a"), ("b", "platform")]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", '"quoted", with a comma'])
def test_no_cell_is_a_formula(inventory, text):
    quoted = json.dumps(text)
    (head, row) = csv.reader(io.StringIO(inventory("csv", a=("", f"  owner: {quoted}\n")).out))
    owner = row[head.index("owner")]

    assert owner == (f"'{text}" if text[0] in "=+-@" else text)


def test_a_cluster_with_errors_is_unknown_and_the_others_are_told(inventory):
    result = inventory(a=("", "  gpu2: {}\n"))

    assert result.code == 1
    assert json.loads(result.out)["unknown"] == [
        {"cluster": "prod", "why": "its profiles have errors: `poolsmith check` shows them"}
    ]


def test_the_sample_is_told_in_words(run_cli, repository):
    out = run_cli(["inventory", "--root", repository, "--cluster", "prod-eu"]).out

    assert "prod-eu/a100-mig\n" in out
    assert "  driver    precompiled 580\n" in out
