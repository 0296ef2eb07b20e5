"""Scenarios beside those of `operator_runs`: what was never asked there, the same for each release."""

from __future__ import annotations

from typing import Any

_FEATURES = "feature.node.kubernetes.io/"
_OS_RELEASE = 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n'
_CONTAINERD = "containerd://1.7.24"
_NFD = {
    "ubuntu": ("22.04", "5.15.0-91-generic"),
    "rhel": ("9.4", "5.14.0-427.13.1.el9_4.x86_64"),
    "sles": ("15.6", "6.4.0-150600.21-default"),
}


def node(
    name: str, system: str = "ubuntu", runtime: str = _CONTAINERD, kernel: str = "", **labels: str
) -> dict[str, Any]:
    """A node with a GPU, as feature discovery labels it."""
    version, usual = _NFD[system]
    major, _, minor = version.partition(".")
    found = {
        "kernel-version.full": kernel or usual,
        "pci-10de.present": "true",
        "system-os_release.ID": system,
        "system-os_release.VERSION_ID": version,
        "system-os_release.VERSION_ID.major": major,
        "system-os_release.VERSION_ID.minor": minor,
    }
    prefixed = {f"{_FEATURES}{key}": value for key, value in found.items()}
    return {"name": name, "runtime": runtime, "labels": {**prefixed, "kubernetes.io/arch": "amd64", **labels}}


def driver(name: str, **spec: Any) -> dict[str, Any]:
    whole = {"driverType": "gpu", "image": "driver", "repository": "nvcr.io/nvidia", "version": "580.126.20", **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": {"name": name}, "spec": whole}


def _inputs(values: dict[str, Any], *nodes: dict[str, Any], crs: tuple[dict[str, Any], ...] = (), **more: Any) -> dict:
    return {
        "apiVersions": [],
        "crs": list(crs),
        "nodes": list(nodes or (node("gpu-1"),)),
        "objects": [],
        "osRelease": _OS_RELEASE,
        "values": values,
        **more,
    }


_DELEGATED = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}
_ENV = [{"name": "EXTRA", "value": "1"}, {"name": "DCGM_EXPORTER_LISTEN", "value": ":9500"}]
_ENV_OF_A_FIELD = [{"name": "NODE_NAME", "value": "mine"}]
"""A variable that the operator takes from a field of the pod: with a value, too, the API server refuses it."""
_TWO_KERNELS = (node("a"), node("b", kernel="5.15.0-92-generic"))
_GDS, _GDRCOPY = {"enabled": True}, {"enabled": True, "version": "v2.5"}


def scenarios() -> dict[str, dict[str, Any]]:
    """Inputs by name."""
    return {
        "s30-precompiled": _inputs({"driver": {"usePrecompiled": True, "version": "580"}}, *_TWO_KERNELS),
        "s30b-precompiled-suse": _inputs(
            {"driver": {"usePrecompiled": True, "version": "580"}},
            node("a", "sles"),
            osRelease='NAME="SLES"\nID="sles"\nVERSION_ID="15.6"\n',
        ),
        "s31-gds-gdrcopy": _inputs({"driver": {"rdma": {"enabled": True}}, "gds": _GDS, "gdrcopy": _GDRCOPY}),
        "s31b-crd-gds-gdrcopy": _inputs(
            _DELEGATED,
            crs=(driver("pool", rdma={"enabled": True}, gds=_sidecar("nvidia-fs"), gdrcopy=_sidecar("gdrdrv")),),
        ),
        "s31c-crd-precompiled": _inputs(
            _DELEGATED, *_TWO_KERNELS, crs=(driver("pool", usePrecompiled=True, version="580"),)
        ),
        "s32-exporter": _inputs(
            {"dcgmExporter": {"env": _ENV, "hostNetwork": True, "annotations": {"a": "b"}}, "dcgm": {"enabled": True}}
        ),
        "s32c-exporter-env-of-a-field": _inputs({"dcgmExporter": {"env": _ENV_OF_A_FIELD}}),
        "s32b-monitors": _inputs(
            {
                "dcgmExporter": {"serviceMonitor": {"enabled": True, "honorLabels": False, "interval": "30s"}},
                "nodeStatusExporter": {"enabled": True},
            },
            serviceMonitorCRD=True,
        ),
        "s33-mps-host-network": _inputs(
            {"devicePlugin": {"hostNetwork": True, "env": _ENV, "mps": {"root": "/run/nvidia/mps"}}}
        ),
        "s34-toolkit-off": _inputs({"toolkit": {"enabled": False}}),
        "s34b-toolkit-env-docker": _inputs(
            {"toolkit": {"env": [{"name": "DOCKER_CONFIG", "value": "/etc/docker/other.json"}]}},
            node("a", runtime="docker://24.0.7"),
        ),
        "s35-resources-and-args": _inputs(
            {
                "daemonsets": {"updateStrategy": "OnDelete", "labels": {"team": "ai"}, "annotations": {"note": "a"}},
                "driver": {
                    "resources": {"limits": {"memory": "8Gi"}},
                    "args": ["--verbose"],
                    "imagePullSecrets": ["ngc"],
                    "startupProbe": {"periodSeconds": 5, "failureThreshold": 200},
                },
                "gfd": {"resources": {"requests": {"cpu": "100m"}}, "imagePullPolicy": "Always"},
                "psa": {"enabled": True},
            }
        ),
        "s36-no-gpu-node": _inputs({}, {"name": "cpu-1", "runtime": _CONTAINERD, "labels": {"kubernetes.io/arch": "amd64"}}),
        "s37-sandbox-vgpu": _inputs(
            {"sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-vgpu"}, "vgpuManager": _VGPU}
        ),
    }  # fmt: skip


_VGPU = {"enabled": True, "repository": "registry.example.com", "image": "vgpu-manager", "version": "580.82.02"}


def _sidecar(image: str) -> dict[str, Any]:
    return {"enabled": True, "image": image, "repository": "nvcr.io/nvidia/cloud-native", "version": "v2.5"}
