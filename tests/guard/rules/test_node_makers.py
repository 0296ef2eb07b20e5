"""Who brings the driver to new nodes: objects of clouds and their tools beside a pool, each with a harmless twin."""

from __future__ import annotations

import pytest
import yaml

from poolsmith.gpu.catalog import Catalog
from poolsmith.kubernetes.repository.manifest_files import CheckedTree, parse_documents
from poolsmith.project.run.neighbours import judge_neighbours_of

OWN, THERE = "{source: container, version: 580.126.20}", "{source: preinstalled}"
LABELS = {"poolsmith.dev/pool": "a"}
GKE_LABELS = {**LABELS, "gke-no-default-nvidia-gpu-device-plugin": "true"}
ASO = ("infrastructure.cluster.x-k8s.io/v1beta1", "AzureASOManagedMachinePool", ("spec", "resources", "*"))
CROSSPLANE = ("kubernetes.crossplane.io/v1alpha2", "Object", ("spec", "forProvider", "manifest"))
NONE_PATCH = '{"spec": {"gpuProfile": {"driver": "None"}}}'


def thing(version, kind, spec, **more):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **({"spec": spec} if spec else {}), **more}


def aks(driver=None):
    profile = {"gpuProfile": {"driver": driver}} if driver else {}
    return thing(
        "containerservice.azure.com/v1api20250801", "ManagedClustersAgentPool", {"nodeLabels": LABELS, **profile}
    )


def capz(*patches):
    spec = {"nodeLabels": LABELS, "asoManagedClustersAgentPoolPatches": list(patches)}
    return thing("infrastructure.cluster.x-k8s.io/v1beta1", "AzureManagedMachinePool", spec)


def within(version, kind, at, body):
    """An object in which another one stands."""
    for step in reversed(at):
        body = [body] if step == "*" else {step: body}
    return thing(version, kind, body["spec"])


def aso(driver=None):
    return within(*ASO, aks(driver))


def upbound_aks(driver=None):
    given = {"nodeLabels": LABELS, **({"gpuDriver": driver} if driver else {})}
    return thing("containerservice.azure.upbound.io/v1beta1", "KubernetesClusterNodePool", {"forProvider": given})


def gke(version=None, accelerator="nvidia-l4", labels=GKE_LABELS, count=2):
    switch = {"gpuDriverInstallationConfig": {"gpuDriverVersion": version}} if version else {}
    config = {"labels": labels, "guestAccelerator": [{"type": accelerator, "count": count, **switch}]}
    return thing("container.cnrm.cloud.google.com/v1beta1", "ContainerNodePool", {"nodeConfig": config})


def eks(image):
    return thing("eks.services.k8s.aws/v1alpha1", "Nodegroup", {"labels": LABELS, "amiType": image})


def capa(image):
    return thing(
        "infrastructure.cluster.x-k8s.io/v1beta2", "AWSManagedMachinePool", {"labels": LABELS, "amiType": image}
    )


def eksctl(**fields):
    groups = [{"name": "a", "labels": LABELS, **fields}]
    return thing("eksctl.io/v1alpha5", "ClusterConfig", {}, managedNodeGroups=groups)


OFF, LATEST = "INSTALLATION_DISABLED", "LATEST"
TOLD = {
    "AKS where nobody says": ("aks", OWN, "1.33", aks(), "error"),
    "AKS that is told to install": ("aks", OWN, "1.33", aks("Install"), "error"),
    "AKS without, and a profile with": ("aks", THERE, "1.33", aks("None"), "warning"),
    "a pool of Azure's operator within CAPZ": ("aks", OWN, "1.33", aso(), "error"),
    "GKE's pool within an Object of Crossplane": ("gke", OWN, "1.33", within(*CROSSPLANE, gke()), "error"),
    "CAPZ, which has no field": ("aks", OWN, "1.33", capz(), "error"),
    "CAPZ with a patch of something else": ("aks", OWN, "1.33", capz('{"spec": {"osSKU": "Ubuntu"}}', "{"), "error"),
    "Crossplane for AKS": ("aks", OWN, "1.33", upbound_aks(), "error"),
    "GKE where nobody says": ("gke", OWN, "1.33", gke(), "error"),
    "GKE with a version, whichever Kubernetes": ("gke", OWN, "1.29", gke(LATEST), "error"),
    "GKE's own beside the label": ("gke", THERE, "1.33", gke(LATEST), "warning"),
    "another accelerator": ("gke", OWN, "1.33", gke(OFF, "nvidia-tesla-t4"), "error"),
    "another number": ("gke", OWN, "1.33", gke(OFF, count=4), "error"),
    "EKS's image with a driver": ("eks", OWN, "1.33", eks("AL2023_x86_64_NVIDIA"), "error"),
    "EKS's image without one": ("eks", THERE, "1.33", eks("AL2023_x86_64_STANDARD"), "error"),
    "Bottlerocket's image with one": ("eks", OWN, "1.33", capa("BOTTLEROCKET_x86_64_NVIDIA"), "error"),
    "eksctl's family with a driver": ("eks", OWN, "1.33", eksctl(amiFamily="AmazonLinux2023"), "error"),
    "eksctl's family without one": ("eks", THERE, "1.33", eksctl(amiFamily="Ubuntu2404"), "error"),
}
SILENT = {
    "AKS without": ("aks", OWN, "1.33", aks("None")),
    "AKS with, and a profile with": ("aks", THERE, "1.33", aks()),
    "a pool of Azure's operator within CAPZ": ("aks", OWN, "1.33", aso("None")),
    "GKE's pool within an Object of Crossplane": ("gke", OWN, "1.33", within(*CROSSPLANE, gke(OFF))),
    "CAPZ with a patch": ("aks", OWN, "1.33", capz('{"spec": {"osSKU": "Ubuntu"}}', NONE_PATCH)),
    "CAPZ with a driver that is wanted": ("aks", THERE, "1.33", capz()),
    "Crossplane for AKS": ("aks", OWN, "1.33", upbound_aks("None")),
    "GKE without": ("gke", OWN, "1.33", gke(OFF)),
    "GKE without, and Google's DaemonSet": ("gke", THERE, "1.33", gke(OFF)),
    "GKE before it installed one by itself": ("gke", OWN, "1.29", gke()),
    "an accelerator that nobody knows": ("gke", OWN, "1.33", gke(OFF, "nvidia-new")),
    "EKS's image with a driver that is wanted": ("eks", THERE, "1.33", eks("AL2023_x86_64_NVIDIA")),
    "EKS's image without one": ("eks", OWN, "1.33", eks("AL2023_x86_64_STANDARD")),
    "an image of one's own": ("eks", OWN, "1.33", eks("CUSTOM")),
    "eksctl with an image by its id": ("eks", OWN, "1.33", eksctl(amiFamily="AmazonLinux2023", ami="ami-0123")),
    "eksctl's Ubuntu": ("eks", OWN, "1.33", eksctl(amiFamily="Ubuntu2404")),
    "eksctl that is filled in later": ("eks", OWN, "1.33", eksctl(amiFamily="${FAMILY}")),
}
NAMES = ("node-template-driver", "node-template-gpus")


@pytest.fixture
def findings(resolve):
    def judged(cloud, driver, kubernetes, body):
        cluster = {"kubernetes": f'{{version: "{kubernetes}", distribution: {cloud}}}'}
        outcome = resolve(cluster, {"a": {"driver": driver, "gpu": "{product: NVIDIA-L4, count: 2}"}})
        documents, _ = parse_documents("infra/x.yaml", yaml.safe_dump(body).encode())
        tree = CheckedTree(tuple(documents), frozenset(("infra/x.yaml",)))
        found = judge_neighbours_of(tree, outcome.plan, outcome.loaded, Catalog()).diagnostics
        return [item.severity for item in found if item.name in NAMES]

    return judged


@pytest.mark.parametrize("what", TOLD)
def test_a_driver_that_comes_twice_or_from_nobody_is_told_once(findings, what):
    *given, severity = TOLD[what]

    assert findings(*given) == [severity]


@pytest.mark.parametrize("what", SILENT)
def test_its_harmless_twin_is_silent(findings, what):
    assert findings(*SILENT[what]) == []


RIGHT = {"label": {"poolsmith.dev/pool": "a"}, "taint": True, "off": True}
MACHINES = {
    "aks": ("Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"),
    "gke": ("g2-standard-8", "g2-standard-96"),
}
MACHINES |= {"eks": ("g6.xlarge", "g6.48xlarge")}
PRODUCTS = {"aks": "NVIDIA-H100-NVL", "gke": "NVIDIA-L4", "eks": "NVIDIA-L4"}


def marks(machine, *, label, taint, off, cloud):
    labels = {"gke-no-default-nvidia-gpu-device-plugin": "true"} if cloud == "gke" else {}
    return {**labels, **label}, taint, off, machine


def all_of_aks(machine, **given):
    labels, taint, off, size = marks(machine, cloud="aks", **given)
    spec = {"nodeLabels": labels, "vmSize": size, **({"nodeTaints": ["team=ml:NoSchedule"]} if taint else {})}
    return spec | ({"gpuProfile": {"driver": "None"}} if off else {})


def azure_pool(machine, **given):
    return thing("containerservice.azure.com/v1api20250801", "ManagedClustersAgentPool", all_of_aks(machine, **given))


def capz_pool(machine, **given):
    spec = all_of_aks(machine, **given)
    taints = [{"key": "team", "value": "ml", "effect": "NoSchedule"}] if given["taint"] else []
    patches = [NONE_PATCH] if given["off"] else []
    body = {"nodeLabels": spec["nodeLabels"], "sku": machine, "taints": taints}
    body["asoManagedClustersAgentPoolPatches"] = patches
    return thing("infrastructure.cluster.x-k8s.io/v1beta1", "AzureManagedMachinePool", body)


def upbound_pool(machine, **given):
    spec = all_of_aks(machine, **given)
    body = {key: spec[key] for key in ("nodeLabels", "vmSize", "nodeTaints") if key in spec}
    return thing(
        "containerservice.azure.upbound.io/v1beta1",
        "KubernetesClusterNodePool",
        {"forProvider": body | ({"gpuDriver": "None"} if given["off"] else {})},
    )


def gke_pool(machine, **given):
    labels, taint, off, size = marks(machine, cloud="gke", **given)
    switch = {"gpuDriverInstallationConfig": {"gpuDriverVersion": OFF}} if off else {}
    config = {"labels": labels, "machineType": size, "guestAccelerator": [{"type": "nvidia-l4", "count": 1, **switch}]}
    taints = [{"key": "team", "value": "ml", "effect": "NO_SCHEDULE"}] if taint else []
    config["taint"] = taints
    return thing("container.cnrm.cloud.google.com/v1beta1", "ContainerNodePool", {"nodeConfig": config})


def eks_pool(machine, **given):
    labels, taint, off, size = marks(machine, cloud="eks", **given)
    taints = [{"key": "team", "value": "ml", "effect": "NO_SCHEDULE"}] if taint else []
    image = "AL2023_x86_64_STANDARD" if off else "AL2023_x86_64_NVIDIA"
    spec = {"labels": labels, "instanceTypes": [size], "taints": taints, "amiType": image}
    return thing("eks.services.k8s.aws/v1alpha1", "Nodegroup", spec)


def eksctl_pool(machine, **given):
    labels, taint, off, size = marks(machine, cloud="eks", **given)
    taints = [{"key": "team", "value": "ml", "effect": "NoSchedule"}] if taint else []
    family = "Ubuntu2404" if off else "AmazonLinux2023"
    return eksctl(labels=labels, instanceType=size, taints=taints, amiFamily=family)


OBJECTS = {
    "Azure's operator": ("aks", azure_pool),
    "the same within CAPZ": ("aks", lambda *at, **given: within(*ASO, azure_pool(*at, **given))),
    "CAPZ's own": ("aks", capz_pool),
    "Crossplane for AKS": ("aks", upbound_pool),
    "Config Connector": ("gke", gke_pool),
    "the same within an Object": ("gke", lambda *at, **given: within(*CROSSPLANE, gke_pool(*at, **given))),
    "ACK": ("eks", eks_pool),
    "eksctl": ("eks", eksctl_pool),
}
WRONG = {
    "node-template-labels": {"label": {}},
    "node-template-taints": {"taint": False},
    "node-template-driver": {"off": False},
    "node-template-gpus": {},
}


@pytest.mark.parametrize("what", OBJECTS)
@pytest.mark.parametrize("rule", [None, *WRONG])
def test_each_object_is_compared_with_all_that_is_to_be_said(resolve, what, rule):
    cloud, made = OBJECTS[what]
    nodes = "{taints: [{key: team, value: ml, effect: NoSchedule}]}"
    pool = {"driver": OWN, "gpu": f"{{product: {PRODUCTS[cloud]}, count: 1}}", "nodes": nodes}
    outcome = resolve({"kubernetes": f'{{version: "1.33", distribution: {cloud}}}'}, {"a": pool})
    body = made(MACHINES[cloud][rule == "node-template-gpus"], **RIGHT | WRONG.get(rule, {}))
    documents, _ = parse_documents("infra/x.yaml", yaml.safe_dump(body).encode())
    tree = CheckedTree(tuple(documents), frozenset(("infra/x.yaml",)))
    found = {item.name for item in judge_neighbours_of(tree, outcome.plan, outcome.loaded, Catalog()).diagnostics}

    assert found == ({rule} if rule else set())
