"""Patches for the tools that make nodes: their fields are those of the real definitions, and the real kustomize takes them."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml

from poolsmith.gpu.catalog import Catalog
from poolsmith.kubernetes.repository.manifest_files import CheckedTree, parse_documents
from poolsmith.project.run.neighbours import judge_neighbours_of

TAINTS = "[{key: nvidia.com/gpu, effect: NoSchedule}, {key: team, value: ml, effect: NoExecute}]"
STARTUP = "[{key: readiness.k8s.io/gpu-not-ready, effect: NoSchedule}]"
NODES = f"{{autoscaled: true, taints: {TAINTS}, startupTaints: {STARTUP}, provisionedBy: {{tool: %s}}}}"
PREINSTALLED = "{source: preinstalled, version: 580.126.20}"
LABEL = "poolsmith.dev/pool"
GPU, TEAM = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "team", "value": "ml", "effect": "NoExecute"}
NOT_READY = {"key": "readiness.k8s.io/gpu-not-ready", "effect": "NoSchedule"}
TEXTS = ["nvidia.com/gpu=:NoSchedule", "team=ml:NoExecute", "readiness.k8s.io/gpu-not-ready=:NoSchedule"]
JOIN = ("spec", "template", "spec", "joinConfiguration", "nodeRegistration")
FIELDS = {
    # what the definitions have at these places: karpenter@2266468, cluster-api@ae7ff04
    ("karpenter.sh/v1", "NodePool"): {
        ("spec", "template", "metadata", "labels"): dict,
        ("spec", "template", "spec", "taints"): list,
        ("spec", "template", "spec", "startupTaints"): list,
    },
    ("bootstrap.cluster.x-k8s.io/v1beta1", "KubeadmConfigTemplate"): {
        (*JOIN, "kubeletExtraArgs"): dict,
        (*JOIN, "taints"): list,
    },
    ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate"): {
        (*JOIN, "kubeletExtraArgs"): list,
        (*JOIN, "taints"): list,
    },
}


@pytest.fixture
def patches(render):
    """The patches of a pool `a` that some tool makes on a distribution."""

    def made(distribution, tool, nodes=NODES, **fields):
        cluster = {"kubernetes": f'{{version: "1.33", distribution: {distribution}}}'}
        gpu = "{product: NVIDIA-L4, count: 2}"
        files = render(
            cluster, {"a": {"nodes": nodes.replace("%s", tool), "gpu": gpu, "driver": PREINSTALLED, **fields}}
        )
        start = "provisioners/"
        return {path.removeprefix(start): files.content[path] for path in files.content if path.startswith(start)}

    return made


def built(tmp_path, files, *objects):
    """What the real kustomize makes of objects with the pool's component, by kind."""
    for name, content in files.items():
        path = tmp_path / "patches" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else content.decode(), "utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/objects.yaml").write_text(yaml.safe_dump_all(objects), "utf-8")
    (tmp_path / "own/kustomization.yaml").write_text("resources: [objects.yaml]\ncomponents: [../patches/a]\n", "utf-8")
    run = subprocess.run(
        ["kustomize", "build", str(tmp_path / "own")], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    return {body["kind"]: body for body in yaml.safe_load_all(run.stdout)}


def at(body, path):
    for key in path:
        body = body[key]
    return body


def assert_fields(body):
    for path, kind in FIELDS[body["apiVersion"], body["kind"]].items():
        assert isinstance(at(body, path), kind)


@pytest.mark.tool("kustomize")
def test_karpenter_keeps_the_rest_of_a_node_pool(patches, tmp_path):
    own = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu-a"},
        "spec": {"template": {"metadata": {"labels": {"team": "ml"}}, "spec": {"requirements": [{"key": "x"}]}}},
    }
    found = built(tmp_path, patches("eks", "karpenter, name: gpu-a"), own)["NodePool"]
    template = found["spec"]["template"]

    assert_fields(found)
    assert template["metadata"]["labels"] == {"team": "ml", LABEL: "a"}
    assert template["spec"] == {"requirements": [{"key": "x"}], "taints": [GPU, TEAM], "startupTaints": [NOT_READY]}


@pytest.mark.tool("kustomize")
def test_a_node_pool_that_is_not_there_fails_the_build(patches, tmp_path):
    own = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "other"}}
    with pytest.raises(AssertionError, match="no matches for Id"):
        built(tmp_path, patches("eks", "karpenter"), own)


@pytest.mark.tool("kustomize")
@pytest.mark.parametrize(
    ("version", "arguments", "expected"),
    [
        ("v1beta1", {"v": "2"}, {"v": "2", "node-labels": f"{LABEL}=a"}),
        (
            "v1beta2",
            [{"name": "v", "value": "2"}],
            [{"name": "v", "value": "2"}, {"name": "node-labels", "value": f"{LABEL}=a"}],
        ),
    ],
)
def test_cluster_api_registers_nodes_with_labels_and_taints(patches, tmp_path, version, arguments, expected):
    registration = {"kubeletExtraArgs": arguments}
    template = {
        "apiVersion": f"bootstrap.cluster.x-k8s.io/{version}",
        "kind": "KubeadmConfigTemplate",
        "metadata": {"name": "md.boot"},
        "spec": {"template": {"spec": {"joinConfiguration": {"nodeRegistration": registration}}}},
    }
    machines = {"apiVersion": f"cluster.x-k8s.io/{version}", "kind": "MachineDeployment", "metadata": {"name": "md"}}
    found = built(tmp_path, patches("kubeadm", "cluster-api, name: md, template: md.boot"), template, machines)
    boot = found["KubeadmConfigTemplate"]
    capacity = "capacity.cluster-autoscaler.kubernetes.io/"

    assert_fields(boot)
    assert at(boot, JOIN) == {"kubeletExtraArgs": expected, "taints": [GPU, TEAM, NOT_READY]}
    assert found["MachineDeployment"]["apiVersion"] == f"cluster.x-k8s.io/{version}"
    assert found["MachineDeployment"]["metadata"]["annotations"] == {
        f"{capacity}labels": f"{LABEL}=a",
        f"{capacity}taints": ",".join(TEXTS),
        f"{capacity}gpu-type": "nvidia.com/gpu",
        f"{capacity}gpu-count": "2",
    }


@pytest.mark.tool("kustomize")
@pytest.mark.parametrize(
    ("distribution", "kind", "group", "spec"),
    [
        ("rke2", "RKE2ConfigTemplate", "bootstrap", {"nodeLabels": [f"{LABEL}=a"], "nodeTaints": TEXTS}),
        ("k3s", "KThreesConfigTemplate", "bootstrap", {"nodeLabels": [f"{LABEL}=a"], "nodeTaints": TEXTS}),
        (
            "eks",
            "AWSManagedMachinePool",
            "infrastructure",
            {
                "labels": {LABEL: "a"},
                "taints": [
                    {"key": "nvidia.com/gpu", "value": "", "effect": "no-schedule"},
                    {"key": "team", "value": "ml", "effect": "no-execute"},
                    {"key": "readiness.k8s.io/gpu-not-ready", "value": "", "effect": "no-schedule"},
                ],
            },
        ),
    ],
)
def test_other_machines_of_cluster_api(patches, tmp_path, distribution, kind, group, spec):
    own = {"apiVersion": f"{group}.cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "a"}}
    files = patches(distribution, "cluster-api", driver="{source: container, version: 580.126.20}")
    found = built(tmp_path, files, own)[kind]
    place = found["spec"]["template"]["spec"]["agentConfig"] if group == "bootstrap" else found["spec"]

    assert place == spec
    assert found["apiVersion"] == own["apiVersion"]


def test_talos_registers_with_taints(patches):
    files = patches(
        "talos", "talos", os='{id: talos, version: "v1.13.3"}', runtime='{name: containerd, version: "2.2"}'
    )
    labels = {LABEL: "a"}
    body = yaml.safe_load(files["a/machine-config.yaml"])["machine"]

    assert labels.items() <= body["nodeLabels"].items()
    assert body["kubelet"]["extraConfig"]["registerWithTaints"] == [GPU, TEAM, NOT_READY]


@pytest.mark.parametrize(
    ("cloud", "labels", "taints", "first"),
    [
        ("eks", "labels", "taint", {"key": "nvidia.com/gpu", "value": "", "effect": "NO_SCHEDULE"}),
        ("gke", "labels", "taint", {"key": "nvidia.com/gpu", "value": "", "effect": "NO_SCHEDULE"}),
        ("aks", "node_labels", "node_taints", "nvidia.com/gpu=:NoSchedule"),
    ],
)
def test_clouds_get_variables_in_their_own_words(patches, cloud, labels, taints, first):
    (group,) = json.loads(patches(cloud, f"{cloud}, name: gpu")["terraform.tfvars.json"])["gpu_node_pools"].items()

    assert group[0] == "gpu"
    assert group[1][labels][LABEL] == "a"
    assert group[1][taints][0] == first


def test_eks_updates_a_node_group_without_removing_what_is_there(patches):
    body = json.loads(patches("eks", "eks")["a/update-nodegroup-config.json"])

    assert body["labels"] == {"addOrUpdateLabels": {LABEL: "a"}}
    assert [taint["effect"] for taint in body["taints"]["addOrUpdateTaints"]] == [
        "NO_SCHEDULE",
        "NO_EXECUTE",
        "NO_SCHEDULE",
    ]


def test_shared_gpus_are_not_counted_for_an_autoscaler(patches):
    files = patches("kubeadm", "cluster-api", sharing="{timeSlicing: {replicas: 4}}")

    assert "gpu-count" not in str(files["a/capacity.yaml"])


def test_pools_that_do_not_say_who_makes_their_nodes_have_no_patches(patches):
    assert not patches("eks", "", nodes="{count: 2}")


@pytest.mark.parametrize(
    ("distribution", "given"),
    [("kubeadm", "{tool: eks}"), ("talos", "{tool: cluster-api}"), ("eks", "{tool: karpenter, template: x}")],
)
def test_a_tool_that_does_not_fit_is_refused(resolve, distribution, given):
    cluster = {"kubernetes": f'{{version: "1.33", distribution: {distribution}}}'}
    found = resolve(cluster, {"a": {"nodes": f"{{provisionedBy: {given}}}", "driver": PREINSTALLED}})

    assert "field-without-effect" in found.names


@pytest.mark.rows(3, "a row takes 0.18 s; each value of each column is seen first")
@pytest.mark.tool("kustomize")
@pytest.mark.parametrize(
    ("distribution", "tool", "version", "kind"),
    [
        ("eks", "karpenter", "karpenter.sh/v1", "NodePool"),
        ("rke2", "cluster-api", "bootstrap.cluster.x-k8s.io/v1beta1", "RKE2ConfigTemplate"),
        ("k3s", "cluster-api", "bootstrap.cluster.x-k8s.io/v1beta2", "KThreesConfigTemplate"),
        ("kubeadm", "cluster-api", "bootstrap.cluster.x-k8s.io/v1beta1", "KubeadmConfigTemplate"),
        ("eks", "cluster-api", "infrastructure.cluster.x-k8s.io/v1beta2", "AWSManagedMachinePool"),
        ("aks", "cluster-api", "infrastructure.cluster.x-k8s.io/v1beta1", "AzureManagedMachinePool"),
        ("gke", "cluster-api", "infrastructure.cluster.x-k8s.io/v1beta1", "GCPManagedMachinePool"),
        ("aks", "aks", "containerservice.azure.com/v1api20250801", "ManagedClustersAgentPool"),
        ("gke", "gke", "container.cnrm.cloud.google.com/v1beta1", "ContainerNodePool"),
    ],
)
def test_what_is_patched_agrees_with_the_profile(resolve, render, tmp_path, distribution, tool, version, kind):
    prefix = "startup-taint.cluster-autoscaler.kubernetes.io"
    nodes = NODES.replace("%s", tool).replace("readiness.k8s.io", prefix)
    pools = {"a": {"nodes": nodes, "gpu": "{product: NVIDIA-L4, count: 2}", "driver": PREINSTALLED}}
    cluster = {"kubernetes": f'{{version: "1.33", distribution: {distribution}}}'}
    if distribution in ("rke2", "k3s"):
        pools["a"] |= {"runtime": '{name: containerd, version: "2.1"}'}
    content = render(cluster, pools).content
    start = "provisioners/"
    files = {path.removeprefix(start): text for path, text in content.items() if path.startswith(start)}
    patched = built(tmp_path, files, {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}})
    documents, _ = parse_documents("x.yaml", yaml.safe_dump_all(patched.values()).encode())
    outcome = resolve(cluster, pools)
    tree = CheckedTree(tuple(documents), frozenset(("x.yaml",)))
    result = judge_neighbours_of(tree, outcome.plan, outcome.loaded, Catalog())

    assert result.diagnostics == ()
    assert len(result.templates) == 1
