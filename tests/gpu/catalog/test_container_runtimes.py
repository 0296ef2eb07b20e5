"""The one table of container runtimes, and a runtime that is added to it: no code has to change."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from poolsmith.core.facts import store
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.profiles.node_pool import Runtime
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD, CRIO, DOCKER, container_runtimes
from poolsmith.gpu.catalog.container_toolkit import known_variables
from poolsmith.gpu.catalog.operands import operand_releases, read_operands
from poolsmith.gpu.catalog.platforms import distributions

GENERATOR = Path(__file__).parents[3] / "generator"
RUNTIMES = container_runtimes()
NAMES = tuple(RUNTIMES.by_name)


def test_all_data_know_the_same_runtimes():
    assert set(NAMES) == set(Catalog().runtimes.by_name)
    assert set(distributions()["kubeadm"].rules) == set(NAMES)
    assert {name for item in distributions().values() for name in item.rules} == set(NAMES)
    assert {CONTAINERD, DOCKER, CRIO} <= set(NAMES)


def test_each_name_is_said_once():
    for names in ([row.status for row in RUNTIMES.rows], [row.operator for row in RUNTIMES.rows], NAMES):
        assert len(set(names)) == len(names)
    assert sum(row.preferred for row in RUNTIMES.rows) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_status_comes_back(name):
    text = RUNTIMES.to_status(name, "1.2.3-k3s1")

    assert RUNTIMES.of_status(text) == (name, "1.2.3-k3s1")
    assert RUNTIMES.recognised(text) == (RUNTIMES.by_name[name].operator or "")


@pytest.mark.parametrize("release", sorted(operand_releases()))
def test_the_operator_mounts_the_files_that_the_distribution_kubeadm_has(release):
    """Two sources: the operator's code by its own words, and the table by the names of profiles."""
    files = read_operands(release).behaviour["runtimeFiles"]
    line = release.removeprefix("v").rpartition(".")[0]

    assert set(files) == set(RUNTIMES.by_operator)
    for word, row in RUNTIMES.by_operator.items():
        paths = distributions()["kubeadm"].paths(row.name, line)
        assert files[word]["config"] == paths.config
        assert files[word]["socket"] == (paths.socket or "")
        if files[word]["dropIn"]:
            assert files[word]["dropIn"] == paths.drop_in
        assert (row.variables.get("socket") is None) is (not files[word]["socket"])


def test_the_toolkit_reads_the_variables():
    variables = {name for row in RUNTIMES.rows for name in row.variables.values()}
    hooks = {name for row in RUNTIMES.rows if row.hooks for name in row.hooks.variables}
    classes = {row.class_variable for row in RUNTIMES.rows if row.class_variable}

    assert variables | hooks | classes | set(RUNTIMES.default_variables) <= set(known_variables())
    assert all(name.startswith(RUNTIMES.prefixes) for name in variables | hooks | classes)


def test_the_documentation_of_profiles_names_each_runtime():
    """The one place in code that a new runtime needs: the words for the field `runtime.name`."""
    (field,) = [item for item in fields(Runtime) if item.name == "name"]
    text = str(field.metadata) + str(field.default)

    assert [name for name in NAMES if name not in text] == []


NEW = "isulad"
"""A runtime that the operator does not have. Its container engine says `iSulad` of itself here."""
PATHS = {"config": "/etc/isulad/daemon.json", "socket": "/run/isulad.sock"}
PROGRAM = """
import json
from poolsmith.fleet.operands.expansion import Node
from poolsmith.gpu.nodes.kubelet_facts import facts_of_node_info
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
found = facts_of_node_info({"containerRuntimeVersion": "iSulad://2.1.5"})
node = Node(name="n", labels={}, runtime="iSulad://2.1.5").facts
print(json.dumps({
    "kubelet": [item.value for item in (*found.runtimes, *found.runtime_versions)],
    "node": [item.value for item in (*node.runtimes, *node.runtime_versions)],
    "operator": container_runtimes().recognised("iSulad://2.1.5"),
    "prefixes": container_runtimes().prefixes,
}))
"""
NODES = """\
- name: gpu-1
  runtime: iSulad://2.1.5
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/kernel-version.full: 5.15.0-91-generic
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "22.04"
"""
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
  runtime: {name: isulad, version: "2.1.5"}
  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}
  driver: {source: container}
"""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of the package whose data have one runtime more; its code is the same."""
    folder = tmp_path_factory.mktemp("runtimes")
    shutil.copytree(
        GENERATOR / "poolsmith", folder / "poolsmith", ignore=shutil.ignore_patterns("__pycache__", "compiled")
    )

    def change(name, edit):
        path = folder / "poolsmith/data" / name
        body = store.read_own_yaml(name) if name.endswith(".yaml") else store.read_json(name)
        edit(body)
        path.write_text(emit(body) if name.endswith(".yaml") else json.dumps(body))

    def with_name(body):
        body["runtimes"].append({"name": NEW, "status": "iSulad", "operator": NEW})

    def with_paths(body):
        kubeadm = next(item for item in body["distributions"] if item["name"] == "kubeadm")
        lines = kubeadm["runtimes"][CONTAINERD][0]["lines"]
        kubeadm["runtimes"][NEW] = [{"lines": lines, **PATHS, "env": []}]
        variables = {"config": "ISULAD_CONFIG", "socket": "ISULAD_SOCKET"}
        body["runtimes"][NEW] = {"variables": variables, "restart": "systemd", "cdiMinimum": "2.0", "nri": []}

    def with_files(body):
        body["behaviour"]["runtimeFiles"][NEW] = {**PATHS, "dropIn": ""}

    change("runtimes/names.yaml", with_name)
    change("distributions.yaml", with_paths)
    change("operands/v26.3.3.json", with_files)
    return folder


def run(scratch, *arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(scratch)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def test_readers_understand_a_runtime_that_the_data_has(scratch):
    done = run(scratch, "-c", PROGRAM)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kubelet"] == found["node"] == [NEW, "2.1.5"]
    assert found["operator"] == NEW
    assert "ISULAD_" in found["prefixes"]


def test_the_operator_is_predicted_to_configure_it(scratch, tmp_path):
    (tmp_path / "nodes.yaml").write_text(NODES)
    (tmp_path / "values.yaml").write_text("{}\n")
    arguments = ("expand", "--release", "v26.3.3", "--nodes", "nodes.yaml", "-f", "values.yaml")
    done = run(scratch, "-m", "poolsmith", *arguments, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    objects = {(item["kind"], item["metadata"]["name"]): item for item in read_documents(done.stdout)}
    pod = objects["DaemonSet", "nvidia-container-toolkit-daemonset"]["spec"]["template"]["spec"]
    (main,) = [item for item in pod["containers"] if item["name"] == "nvidia-container-toolkit-ctr"]
    env = {item["name"]: item.get("value") for item in main["env"]}
    mounted = {item["name"]: item.get("hostPath", {}).get("path") for item in pod["volumes"]}
    assert (env["RUNTIME"], env["ISULAD_CONFIG"]) == (NEW, "/runtime/config-dir/daemon.json")
    assert (mounted["isulad-config"], mounted["isulad-socket"]) == ("/etc/isulad", "/run")


def test_a_pool_may_run_it(scratch, tmp_path):
    folder = tmp_path / "profiles/prod"
    folder.mkdir(parents=True)
    (folder / "cluster.yaml").write_text(CLUSTER)
    (folder / "a.yaml").write_text(POOL)
    done = run(scratch, "-m", "poolsmith", "generate", "--root", str(tmp_path), "--jobs", "1")

    assert done.returncode == 0, done.stdout + done.stderr
    predicted = (tmp_path / "output/clusters/prod/expected/workloads.yaml").read_text("utf-8")
    assert re.search(r"/etc/isulad\b", predicted)


def test_without_the_data_it_is_a_runtime_that_nobody_knows(tmp_path):
    folder = tmp_path / "profiles/prod"
    folder.mkdir(parents=True)
    (folder / "cluster.yaml").write_text(CLUSTER)
    (folder / "a.yaml").write_text(POOL)
    done = run(GENERATOR, "-m", "poolsmith", "generate", "--root", str(tmp_path), "--jobs", "1")

    assert done.returncode == 1
    assert "does not recognise the container runtime `isulad`" in done.stdout + done.stderr
