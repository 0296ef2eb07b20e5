"""Container runtimes of setups that somebody wrote: nodes, values and workloads that do not go together."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.container_toolkit import known_variables
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.interface.app import check_paths

HELM = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: {release}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  values: {values}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: train}}
spec: {{runtimeClassName: {name}, containers: [{{name: main, image: "example.com/train:1"}}]}}
"""
GPU = {"feature.node.kubernetes.io/pci-10de.present": "true"}
SYSTEM = {
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
}
PATHS_INSIDE = ("CONTAINERD_CONFIG", "CONTAINERD_SOCKET", "RUNTIME_DROP_IN_CONFIG")
"""What the operator reads, mounts, and hands on as the path inside of the container."""
OFF = {"nvidia.com/gpu.deploy.container-toolkit": "false"}
PASSTHROUGH = {"nvidia.com/gpu.workload.config": "vm-passthrough"}
SANDBOXED = {"sandboxWorkloads": {"enabled": True}}
CONTAINERD, CRIO, DOCKER = "containerd://2.1.5", "cri-o://1.33.0", "docker://27.1.0"
K3S = "containerd://2.1.5-k3s1"
SOCKET = "/run/k3s/containerd/containerd.sock"
CLASS = "runtime-class-not-made"
PATHS = "paths-of-another-distribution"
MIXED = "mixed-container-runtimes"


def env(**variables):
    return {"toolkit": {"env": [{"name": name, "value": value} for name, value in variables.items()]}}


@pytest.fixture
def judge(write_files):
    def run(values, nodes=None, release="v26.3.3", **files):
        files = {f"{name}.yaml": text for name, text in files.items()}
        files["release.yaml"] = HELM.format(release=release, values=json.dumps(values))
        root = write_files(files)
        options = {}
        if nodes is not None:
            listed = [
                {"name": name, "labels": {**GPU, **labels}, "runtime": runtime}
                for name, (runtime, labels) in nodes.items()
            ]
            (root / "nodes.yaml").write_text(json.dumps(listed), "utf-8")
            options["nodes"] = root / "nodes.yaml"
        paths = [path for path in sorted(root.iterdir()) if path.name != "nodes.yaml"]
        found = check_paths(root, paths, **options, everything=True).diagnostics
        return [item for item in found if item.name in (CLASS, PATHS, MIXED)]

    return run


# values, nodes, what is said, words of it
RUNTIMES = {
    "containerd wins": ({}, {"a": (CONTAINERD, {}), "b": (CRIO, {})}, MIXED, "configures containerd on all"),
    "also as the only one": ({}, {"a": (DOCKER, {}), "b": (CRIO, {}), "c": (CONTAINERD, {})}, MIXED, "`a` runs docker"),
    "docker and cri-o": ({}, {"a": (DOCKER, {}), "b": (CRIO, {})}, MIXED, "depends on the order"),
    "an opted-out node": ({}, {"a": (CONTAINERD, {}), "b": (CRIO, OFF)}, None, ""),
    "no toolkit at all": ({"toolkit": {"enabled": False}}, {"a": (CONTAINERD, {}), "b": (CRIO, {})}, None, ""),
    "a node for virtual machines": (SANDBOXED, {"a": (CONTAINERD, {}), "b": (CRIO, PASSTHROUGH)}, None, ""),
    "its label without the switch": ({}, {"a": (CONTAINERD, {}), "b": (CRIO, PASSTHROUGH)}, MIXED, "`b` runs cri-o"),
    "nobody says which": ({}, {"a": (CONTAINERD, {}), "b": ("", {})}, None, ""),
    "k3s without its socket": ({}, {"a": (K3S, {})}, PATHS, SOCKET),
    "k3s with it": (env(CONTAINERD_SOCKET=SOCKET), {"a": (K3S, {})}, None, ""),
    "k3s with another's": (
        env(CONTAINERD_SOCKET="/run/k0s/containerd.sock"),
        {"a": (K3S, {})},
        PATHS,
        "`CONTAINERD_SOCKET` is a path of `k0s`",
    ),
    "a socket that nobody knows": (env(CONTAINERD_SOCKET="/opt/containerd.sock"), {"a": (K3S, {})}, None, ""),
    "k3s under NRI": ({"cdi": {"nriPluginEnabled": True}}, {"a": (K3S, {})}, None, ""),
    "k3s without the toolkit": ({}, {"a": (K3S, OFF)}, None, ""),
    "nobody says which distribution": (env(CONTAINERD_SOCKET=SOCKET), {"a": (CONTAINERD, {})}, None, ""),
}


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_runtimes_of_nodes_and_the_toolkit_go_together_or_it_is_told(judge, name):
    values, nodes, rule, words = RUNTIMES[name]
    found = [item for item in judge(values, nodes) if item.name in (PATHS, MIXED)]

    assert {item.name for item in found} == ({rule} if rule else set())
    assert words in " ".join(f"{item.message} {item.help}" for item in found)
    assert {item.severity for item in found} <= {"error"}


# release, values, the class that a pod asks for, whether the operator makes it
CLASSES = [
    ("v26.3.3", {}, "nvidia", True),
    ("v26.3.3", {}, "nvidia-cdi", True),
    ("v26.3.3", {"cdi": {"enabled": False}}, "nvidia-cdi", False),
    ("v25.3.4", {}, "nvidia-legacy", False),
    ("v25.3.4", {}, "nvidia", True),
    ("v26.7.0", {"cdi": {"nriPluginEnabled": True}}, "nvidia", False),
    ("v26.3.3", {"operator": {"runtimeClass": "nvidia-container-runtime"}}, "nvidia", False),
    ("v26.3.3", {"operator": {"runtimeClass": "nvidia-container-runtime"}}, "nvidia-container-runtime", True),
    ("v26.3.3", {"cdi": {"nriPluginEnabled": True}}, "kata-qemu-nvidia-gpu", True),
]


@pytest.mark.parametrize(("release", "values", "name", "made"), CLASSES)
def test_a_pod_asks_for_a_class_that_is_made_or_it_is_told(judge, release, values, name, made):
    found = judge(values, release=release, pod=POD.format(name=name))

    assert [(item.name, item.severity, str(item.primary.span)) for item in found] == (
        [] if made else [(CLASS, "warning", "pod.yaml:4:8")]
    )


def test_a_class_that_stands_in_the_files_is_there(judge):
    runtime_class = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: nvidia}\nhandler: nvidia\n"
    nri = {"cdi": {"nriPluginEnabled": True}}

    assert judge(nri, pod=POD.format(name="nvidia"), there=runtime_class) == []


@pytest.mark.parametrize("release", operand_releases())
def test_what_the_operator_overwrites_and_what_it_hands_on_is_what_is_predicted_of_it(write_files, run_cli, release):
    """Each variable by its name as value: what the toolkit then gets, against what the rule says of the variable."""
    named = {
        name: f"/own/{name}"
        for name in known_variables()
        # one is a reference, which the API server takes without a value only
        if name not in ("RUNTIME_CONFIG", "RUNTIME_CONFIG_SOURCE", "NRI_NAMESPACE")
    }
    node = [{"name": "a", "labels": {**GPU, **SYSTEM}, "runtime": CONTAINERD}]
    root = write_files({"values.yaml": json.dumps(env(**named)), "nodes.yaml": json.dumps(node)})
    run = run_cli(
        ["expand", "--release", release, "-f", root / "values.yaml", "--nodes", root / "nodes.yaml", "--format", "json"]
    )
    made = {item["metadata"]["name"]: item for item in run.report["objects"] if item["kind"] == "DaemonSet"}
    (container,) = made["nvidia-container-toolkit-daemonset"]["spec"]["template"]["spec"]["containers"]
    gets = {entry["name"]: entry.get("value") for entry in container["env"]}
    known = {name: fact for name, fact in known_variables().items() if name in named}

    for name, fact in known.items():
        own_win = release == "v25.3.3"  # it mounts the runtime's files first, and then sets the variables of the user
        if fact.overwritten is not None and at_least(release, fact.since or release) and not own_win:
            assert gets[name] != named[name], name
        elif name not in PATHS_INSIDE:
            assert gets[name] == named[name], name
