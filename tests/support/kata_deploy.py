"""Sets of values for the chart kata-deploy, by name: what pools ask of it, and what others write."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

from poolsmith.gpu.catalog.charts import read_chart

NAMESPACE = "kata-system"
RELEASE = "kata-deploy"
DISTRIBUTIONS = ("k8s", "k3s", "rke2", "k0s", "microk8s")
GPU_SHIMS = ("qemu-nvidia-gpu", "qemu-nvidia-gpu-snp", "qemu-nvidia-gpu-tdx")


def shims_of(version: str) -> tuple[str, ...]:
    chart = read_chart(RELEASE, version)
    assert chart is not None
    return tuple(name for name in chart.defaults["shims"] if name != "disableAll")


def only(version: str, *names: str, **more: Any) -> dict[str, Any]:
    """No shims but these; the oldest version has no word for all of them."""
    off: dict[str, Any] = {"disableAll": True}
    if version == "3.24.0":
        off = {name: {"enabled": False} for name in shims_of(version)}
    return {**off, **{name: {"enabled": True, **more} for name in names}}


def value_sets(version: str) -> dict[str, dict[str, Any]]:
    """The sets that are recorded for a version."""
    gpu = only(version, "qemu-nvidia-gpu")
    sets: dict[str, dict[str, Any]] = {
        "plain": {},
        "gpu": {"shims": gpu, "snapshotter": {"setup": []}, "defaultShim": {"amd64": "qemu-nvidia-gpu"}},
        "confidential": {
            "shims": only(version, *GPU_SHIMS),
            "snapshotter": {"setup": ["nydus"]},
            "defaultShim": {"amd64": "qemu-nvidia-gpu"},
        },
        "placed": {
            "shims": gpu,
            "nodeSelector": {"nvidia.com/gpu.workload.config": "vm-passthrough", "number": "1"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        },
        "mirror": {
            "shims": gpu,
            "image": {"reference": "mirror.example.com/kata/kata-deploy", "tag": version},
            "imagePullSecrets": [{"name": "pull"}],
            "imagePullPolicy": "IfNotPresent",
        },
        "own-selector": {
            "shims": only(version, "qemu-nvidia-gpu", runtimeClass={"nodeSelector": {"pool": "kata", "own": "true"}})
        },
        "own-overhead": {
            "shims": only(version, "qemu-nvidia-gpu", runtimeClass={"overhead": {"memory": "2Gi", "pods": "1"}})
        },
        "no-overhead": {"shims": gpu, "runtimeClasses": {"overheadEnabled": False}},
        "own-word-on-overhead": {
            "shims": only(version, "qemu-nvidia-gpu", runtimeClass={"overheadEnabled": True}),
            "runtimeClasses": {"overheadEnabled": False},
        },
        "no-classes": {"runtimeClasses": {"enabled": False}},
        "default-elsewhere": {"shims": gpu, "defaultShim": {"amd64": "qemu", "arm64": "qemu-nvidia-gpu"}},
        "no-default": {"defaultShim": {"amd64": "", "arm64": ""}},
        "second": {"env": {"multiInstallSuffix": "two", "installationPrefix": "/srv", "hostOS": "cbl-mariner"}},
        "annotations": {
            "shims": only(version, "qemu", "qemu-tdx", allowedHypervisorAnnotations=["default_memory", "kernel"])
        },
        "forced-pull": {
            "shims": only(
                version, "qemu-nvidia-gpu-snp", "qemu", containerd={"forceGuestPull": True, "snapshotter": "x"}
            )
        },
        "crio-pull": {"shims": only(version, "qemu", crio={"guestPull": True})},
        "proxies": {
            "shims": only(version, *GPU_SHIMS, agent={"httpsProxy": "http://proxy:3128", "noProxy": "10.0.0.0/8,.svc"})
        },
        "no-setup": {"snapshotter": {"setup": None}},
        "two-setups": {"snapshotter": {"setup": ["nydus", "erofs"]}},
        "debug": {"debug": True, "shims": gpu},
        "own-shim": {"shims": {**gpu, "mine": {"enabled": True, "supportedArches": ["amd64", "arm64"]}}},
        "not-on-amd64": {"shims": only(version, "qemu-nvidia-gpu", supportedArches=["arm64"])},
        "without-architecture": {"shims": only(version, "qemu-nvidia-gpu", supportedArches=[])},
        "digest": {"shims": gpu, "image": {"reference": "quay.io/k/kata-deploy@sha256:" + "0" * 64}},
    }
    if version != "3.24.0":
        sets |= {
            "class-of-default": {
                "runtimeClasses": {"createDefault": True, "defaultName": "kata"},
                "shims": gpu,
                "defaultShim": {"amd64": "qemu-nvidia-gpu"},
            },
            "own-folder": {"containerd": {"configDir": "/etc/own/containerd", "configFileName": " config-v3.toml "}},
            "update": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}},
            "kubectl": {"kubectlImage": {"reference": "mirror.example.com/kubectl", "tag": ""}},
        }
    if version.startswith("4."):
        sets |= {
            "pod": {
                "podLabels": {"team": "kata", "name": "other"},
                "podAnnotations": {"a": "b"},
                "priorityClassName": "",
                "resources": {"limits": {"memory": "1Gi"}},
                "affinity": {"podAntiAffinity": {}},
                "startupTaints": ["kata.example.com/not-ready", "b"],
            },
            "erofs": {"snapshotter": {"setup": ["erofs"], "erofsMergeMode": "merged", "erofsSnapshotterMode": "block"}},
            "verity": {"snapshotter": {"erofsDmverity": True}, "logLevel": " trace "},
            "drop-in": {"containerd": {"userDropIn": "[plugins]\n  a = 1\n\n[b]\n"}, "shims": gpu},
            "health": {"health": {"port": 9100, "startupProbe": {"enabled": False, "periodSeconds": 3}}},
            "rust": {"shims": only(version, "qemu-nvidia-gpu-runtime-rs", "qemu-nvidia-gpu-snp-runtime-rs")},
        }
    if version == "4.1.0":
        sets |= {
            "rules": {"nodeFeatureRules": {"create": True}, "shims": only(version, *GPU_SHIMS)},
            "no-rules": {"nodeFeatureRules": {"create": False}, "shims": only(version, *GPU_SHIMS)},
            "rules-without-sizes": {
                "nodeFeatureRules": {"create": "true"},
                "runtimeClasses": {"overheadEnabled": False},
                "shims": only(version, *GPU_SHIMS),
            },
            "kit": {"debug": True, "devkit": True, "shims": gpu, "env": {"multiInstallSuffix": "two"}},
        }
    sets |= {f"on-{name}": {"k8sDistribution": name, "shims": gpu} for name in DISTRIBUTIONS}
    sets |= {f"shim-{name}": {"shims": only(version, name)} for name in shims_of(version)}
    return sets


def refused_sets(version: str) -> dict[str, dict[str, Any]]:
    """Values that stop Helm."""
    sets: dict[str, dict[str, Any]] = {
        "distribution": {"k8sDistribution": 7},
        "shim": {"shims": {"qemu": True}},
        "arches": {"shims": {"qemu": {"enabled": True, "supportedArches": "amd64"}}},
    }
    if version == "3.24.0":
        return sets | {"no-word-for-all": {"shims": {"disableAll": True}}}
    sets |= {"text": {"shims": {"qemu": {"enabled": "true"}}}, "file": {"containerd": {"configFileName": 7}}}
    if version.startswith("4."):
        sets |= {"level": {"logLevel": 5}, "mode": {"deploymentMode": True}}
    if version == "4.1.0":
        sets |= {
            "rules": {"nodeFeatureRules": {"create": "yes"}},
            "mode-name": {"deploymentMode": "jobs"},
            "selection": {"job": {"nodeSelector": {"a": "b"}}},
        }
    return sets


def random_set(version: str, seed: int) -> dict[str, Any]:
    """Several sets at once, laid over each other."""
    draw = random.Random(seed)
    names = value_sets(version)
    merged: dict[str, Any] = {}
    for name in draw.sample(sorted(names), 4):
        _lay(merged, names[name])
    return merged


def _lay(below: dict[str, Any], above: dict[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            below[key] = dict(below[key])
            _lay(below[key], value)
        else:
            below[key] = value


def digests(objects: dict[str, Any]) -> str:
    """A hash of all objects together."""
    return hashlib.sha256(json.dumps(objects, sort_keys=True).encode()).hexdigest()[:16]
