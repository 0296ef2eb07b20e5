"""What `generate` and `check` say about a project as a whole."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import compare, generate

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3}
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: a}
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd}
  gpu: {product: NVIDIA-L4, count: 1}
  driver: {source: container, version: 580.126.20, upgradePolicy: {}}
"""
BASE = "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {name: x}\nspec: {}\n"
PROJECT = {"profiles/prod/cluster.yaml": CLUSTER, "profiles/prod/a.yaml": POOL}


def findings(result):
    return [(item.code, item.name, str(item.primary.span)) for item in result.outcome.diagnostics]


def test_a_base_that_nothing_extends_is_told(write_files):
    root = write_files({**PROJECT, "profiles/_bases/x.yaml": BASE})

    assert findings(generate(root)) == [("PSM116", "unused-base", "profiles/_bases/x.yaml:3:12")]


def test_a_base_that_a_pool_extends_is_in_use(write_files):
    root = write_files(
        {
            **PROJECT,
            "profiles/_bases/x.yaml": BASE,
            "profiles/prod/a.yaml": POOL.replace("spec:\n", "spec:\n  extends: [x]\n"),
        }
    )

    assert findings(generate(root)) == []


def test_output_that_is_not_what_the_profiles_generate_is_out_of_date(write_files):
    root = write_files(PROJECT)
    generate(root)
    write_files({"profiles/prod/a.yaml": POOL.replace("count: 1", "count: 2")})
    found = findings(compare(root))

    assert found
    assert {(code, name) for code, name, _ in found} == {("PSM501", "output-out-of-date")}


def test_what_was_generated_twice_is_current(write_files):
    root = write_files(PROJECT)
    generate(root)

    assert findings(compare(root)) == []
    assert generate(root).changed == ()


@pytest.mark.parametrize("pools", [["a", "b"], ["b", "a"]])
def test_the_order_in_which_files_were_made_changes_nothing(write_files, pools):
    root = write_files({"profiles/prod/cluster.yaml": CLUSTER})
    for name in pools:
        write_files({f"profiles/prod/{name}.yaml": POOL.replace("name: a", f"name: {name}")})
    generate(root)
    text = (root / "output/clusters/prod/README.md").read_text("utf-8")

    assert text.index("| a |") < text.index("| b |")
