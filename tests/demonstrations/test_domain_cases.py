"""What profiles and values say of GPUs, drivers and releases, right and wrong, each with the step that tells it."""

from __future__ import annotations

import json

import pytest

from guard.rules.test_domain_relatives import CLAIMS, driver_object, installed, label, node
from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app import check_paths
from poolsmith.interface.app.generate import generate

A100 = {"product": "NVIDIA-A100-SXM4-80GB", "count": 8}
DELIVERY = {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git", "revision": "refs/heads/main"}


def driver(version, **more):
    return {"driver": {"source": "container", "version": version, "upgradePolicy": {}, **more}}


def ubuntu(version, runtime="2.2.1"):
    return {"os": {"id": "ubuntu", "version": version}, "runtime": {"name": "containerd", "version": runtime}}


def gb200(**more):
    return {"arch": "arm64", "gpu": {"product": "GB200", "count": 4, **more}}


NEW, OLD = ubuntu("24.04"), ubuntu("22.04")
HAND = {"driver": {"source": "preinstalled"}, "toolkit": {"source": "preinstalled", "version": "1.6.0"}}
H100 = {"gpu": {"product": "NVIDIA-H100-80GB-HBM3", "count": 8}}
# Kubernetes, the stack, the pool, what is told: a severity with words of the message, or nothing
PROFILES = {
    "more clients than an MPS server has": (
        "1.35",
        {"release": "v26.7.0"},
        {**NEW, **driver("595.91.07"), "sharing": {"mps": {"replicas": 49}}},
        ("error", "48 clients at most"),
    ),
    "GPUDirect Storage with `auto`": ("1.35", {"release": "v26.7.0"}, {**NEW, **driver("595.91.07", gds=True)}, None),
    "Blackwell before its branch": (
        "1.35",
        {"release": "v26.7.0"},
        {**NEW, **gb200(), **driver("550.163.01", kernelModuleType="open")},
        ("error", "needs driver 570 or later"),
    ),
    "Hopper before its branch": (
        "1.34",
        {"release": "v26.3.3"},
        {**OLD, **H100, **driver("470.256.02", kernelModuleType="proprietary")},
        ("error", "needs driver 525 or later"),
    ),
    "a branch that is newer than the list of a system": (
        "1.35",
        {"release": "v26.7.0"},
        {**ubuntu("26.04"), **driver("615.71.09")},
        None,
    ),
    "RKE2 with a release that its page does not name": (
        ("1.35", "rke2"),
        {"release": "v26.7.0"},
        {**NEW, **driver("595.91.07")},
        None,
    ),
    "NVLink over nodes before a release that has GPUClusters": (
        "1.35",
        {"release": "v26.3.3"},
        {**NEW, **gb200(multiNodeNvlink=True), **driver("580.126.20")},
        ("error", "the DRA driver's own chart beside this stack"),
    ),
    "a line of releases is skipped": (
        "1.31",
        {"release": "v25.10.1", "upgradingFrom": "v24.9.2"},
        {**ubuntu("22.04", "1.7.30"), **driver("580.126.20")},
        ("warning", "pin v25.3.4 first"),
    ),
    "a Kubernetes that the vendor supports since": (
        "1.37",
        {"release": "v26.7.0"},
        {**NEW, **driver("595.91.07")},
        None,
    ),
    "a release with a vulnerable toolkit": (
        "1.32",
        {"release": "v25.3.0"},
        {**ubuntu("22.04", "1.7.27"), **driver("570.133.20")},
        ("warning", "CVE-2025-23266"),
    ),
    "a toolkit older than the plugin needs": (
        "1.31",
        {"release": "v0.17.1", "kind": "device-plugin"},
        {**ubuntu("22.04", "1.7.30"), **HAND},
        ("error", "needs the toolkit 1.7.0 or later"),
    ),
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile(tmp_path, name):
    version, stack, pool, expected = PROFILES[name]
    kubernetes, distribution = version if isinstance(version, tuple) else (version, "kubeadm")
    spec = {"kubernetes": {"version": kubernetes, "distribution": distribution}, "stack": stack, "delivery": DELIVERY}
    folder = tmp_path / "profiles/c"
    folder.mkdir(parents=True)
    for kind, own, body in (("Cluster", "cluster", spec), ("NodePool", "a", {"gpu": A100, **pool})):
        item = {"apiVersion": "poolsmith/v1", "kind": kind, "metadata": {"name": "c" if kind == "Cluster" else own}}
        (folder / f"{own}.yaml").write_text(json.dumps({**item, "spec": body}))
    result = generate(tmp_path)
    told = [
        (str(item.severity), f"{item.message}; {item.help}")
        for item in result.outcome.diagnostics
        if item.severity is not Severity.NOTE
    ]

    assert result.written is (expected is None or expected[0] == "warning")
    if expected is None:
        assert told == []
    else:
        assert any(severity == expected[0] and expected[1] in text for severity, text in told), told


OBJECTS_ALONE = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}
GATES = {**CLAIMS, "draDriver": {"featureGates": {"DynamicMIG": True, "PassthroughSupport": True}}}
# values, objects beside them, a node, words of the message
VALUES = {
    "Kata without the writer of its labels": (
        {"sandboxWorkloads": {"enabled": True, "mode": "kata"}, "ccManager": {"enabled": False}},
        (),
        None,
        "only the CC manager writes",
    ),
    "gates that exclude each other": (GATES, (), None, "exclude each other"),
    "a field of an object that is no longer read": (
        OBJECTS_ALONE,
        (driver_object(useOpenKernelModules=True),),
        node(),
        "`useOpenKernelModules` has no effect",
    ),
    "a share of nodes that is none": (
        {"driver": {"version": "595.91.07", "upgradePolicy": {"autoUpgrade": True, "maxUnavailable": "abc"}}},
        (),
        None,
        "no number and no percentage",
    ),
    "a vGPU manager without an image": (
        {"sandboxWorkloads": {"enabled": True}, "vgpuManager": {"enabled": True}},
        (),
        None,
        "nobody publishes such an image",
    ),
    "a label of no operand": ({}, (), label("gpu.deploy.drivers", "false"), "no operand has such a label"),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("by", ["Flux", "a file"])
def test_values_and_what_stands_beside_them(tmp_path, name, by):
    values, objects, given, words = VALUES[name]
    folder, nodes = tmp_path / "files", tmp_path / "nodes.yaml"
    folder.mkdir()
    written = installed("gpu-operator", "v26.7.0", values) if by == "Flux" else values
    (folder / "values.yaml").write_text(json.dumps(written))
    for index, item in enumerate(objects):
        (folder / f"{index}.yaml").write_text(json.dumps(item))
    if given is not None:
        nodes.write_text(json.dumps(given))
    paths = [folder, folder / "values.yaml"]
    found = check_paths(tmp_path, paths, nodes=nodes if given else None, release="v26.7.0", everything=True)

    assert any(words in item.message and item.severity is not Severity.NOTE for item in found.diagnostics)
