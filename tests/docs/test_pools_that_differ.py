"""The pages on drivers, runtimes and scheduling: their examples are taken at their word, and their commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from support.git_repository import commit_all, git

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("drivers", "runtimes", "scheduling", "setups")
BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>yaml|console)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
CLUSTER = {
    "kubernetes": {"version": "1.33", "distribution": "kubeadm"},
    "stack": {"release": "v26.3.3"},
    "poolLabel": "example.com/gpu-pool",
    "delivery": {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git"},
}
POOL = {
    "os": {"id": "ubuntu", "version": "22.04"},
    "kernel": {"release": "5.15.0-105-generic"},
    "runtime": {"name": "containerd", "version": "2.1"},
    "gpu": {"product": "NVIDIA-A100-SXM4-80GB", "count": 8},
    "driver": {"source": "container", "version": "580.126.20", "upgradePolicy": {}},
}
PRECOMPILED = {"source": "precompiled", "version": "580", "upgradePolicy": {}}
OF_CLUSTERS = ("stack", "acknowledge")
OPERATOR = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
    driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: false}}
"""
NODES = """\
- name: gpu-1
  runtime: containerd://2.1.5
  labels: {nvidia.com/gpu.present: 'true'}
  taints: [{key: team, value: ml, effect: NoSchedule}]
"""


def blocks(kind):
    """Page, and text without the indentation of a list."""
    return [
        (page, re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE))
        for page in PAGES
        for found in BLOCK.finditer((DOCS / f"{page}.md").read_text("utf-8"))
        if found["info"] == kind
    ]


def profile(kind, name, spec):
    return emit({"apiVersion": "poolsmith/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})


def project(name="prod-eu", more=None, **pool):
    """One cluster of one pool, with other fields where an example has them."""
    fields = {"stack": CLUSTER["stack"], **(more or {})}
    of_cluster = {key: fields.pop(key) for key in tuple(fields) if key in OF_CLUSTERS}
    return {
        f"profiles/{name}/cluster.yaml": profile("Cluster", name, CLUSTER | of_cluster),
        f"profiles/{name}/a100.yaml": profile("NodePool", "a100", POOL | fields | pool),
    }


def test_there_are_examples_of_every_page_that_has_some():
    assert {page for page, _ in blocks("yaml")} == {"drivers", "runtimes", "scheduling"}
    assert {page for page, _ in blocks("console")} == {"scheduling", "setups"}


@pytest.mark.parametrize(("page", "text"), blocks("yaml"))
def test_an_example_of_a_profile_is_one_that_generates(write_files, run_cli, page, text):
    (example,) = read_documents(text)
    if example.get("kind") == "DriverImageList":
        root = write_files({**project(driver=PRECOMPILED), "profiles/_driver-images.yaml": text})
    else:
        root = write_files(project(more=example.get("spec", example)))

    generated, checked = (run_cli([verb, "--root", root, "--format", "json"]) for verb in ("generate", "check"))

    assert (generated.code, checked.code) == (0, 0)
    assert [item["name"] for item in checked.diagnostics if item["severity"] == "error"] == []


@pytest.mark.parametrize(
    "command", [line for page, text in blocks("console") if page == "scheduling" for line in text.splitlines()]
)
def test_files_by_hand_are_checked_with_the_commands_that_are_shown(write_files, run_cli, command):
    words = command.partition("#")[0].removeprefix("$ poolsmith ").split()
    taints = {"taints": [{"key": "team", "value": "ml", "effect": "NoSchedule"}]}
    root = write_files(project(nodes=taints) | {"nodes.yaml": NODES, "apps/gpu-operator/release.yaml": OPERATOR})

    found = run_cli(["check", "--root", root, "--format", "json", *words[1:]], cwd=root)

    assert {item["code"] for item in found.diagnostics if item["severity"] == "error"} == {"PSM270", "PSM271"}


def test_what_a_change_replaces_is_told_as_it_is_shown(write_files, run_cli):
    (shown,) = (text for page, text in blocks("console") if "ledger" in text)
    command, _, output = shown.partition("\n")
    pattern = ".*\n".join(map(re.escape, output.split("...\n")))
    stack = {"stack": {"release": "v26.3.3", "driverMode": "nvidia-driver"}}
    root = write_files(project("lab", stack))
    run_cli(["generate", "--root", root])
    commit_all(root)
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    write_files(project("lab", stack, driver=PRECOMPILED))
    run_cli(["generate", "--root", root])

    printed = run_cli(command.removeprefix("$ poolsmith ").split(), cwd=root).out
    assert re.fullmatch(pattern, printed, re.DOTALL), printed
