"""Labels and taints in the words of each tool that makes nodes. Floor: render."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from poolsmith.sources.yaml_writer import emit

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.model.node_pool import Taint

Labels = dict[str, str]
Taints = tuple["Taint", ...]


def snippet(tool: str, pool: str, labels: Labels, taints: Taints) -> str:
    """A piece of configuration or a command for one tool; text, to be pasted. Raises KeyError."""
    return _TOOLS[tool](pool, labels, taints)


def _pairs(labels: Labels) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _taint(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect.value}"


def _taint_list(taints: Taints) -> list[dict[str, str]]:
    return [
        {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": taint.effect.value}
        for taint in taints
    ]


def _without_empty(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value}


def _kubelet(_pool: str, labels: Labels, taints: Taints) -> str:
    flags = [f"--node-labels={_pairs(labels)}"] if labels else []
    if taints:
        flags.append("--register-with-taints=" + ",".join(_taint(taint) for taint in taints))
    return " ".join(shlex.quote(flag) for flag in flags) + "\n"


def _kubeadm(_pool: str, labels: Labels, taints: Taints) -> str:
    registration = _without_empty({"kubeletExtraArgs": _kubelet_args(labels), "taints": _taint_list(taints)})
    return emit(
        {
            "apiVersion": "kubeadm.k8s.io/v1beta4",
            "kind": "JoinConfiguration",
            "nodeRegistration": registration,
        }
    )


def _kubelet_args(labels: Labels) -> list[dict[str, str]]:
    return [{"name": "node-labels", "value": _pairs(labels)}] if labels else []


def _cluster_api(pool: str, labels: Labels, taints: Taints) -> str:
    arguments = {"node-labels": _pairs(labels)} if labels else {}
    registration = _without_empty({"kubeletExtraArgs": arguments, "taints": _taint_list(taints)})
    return emit(
        {
            "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1",
            "kind": "KubeadmConfigTemplate",
            "metadata": {"name": pool},
            "spec": {"template": {"spec": {"joinConfiguration": {"nodeRegistration": registration}}}},
        }
    )


def _karpenter(pool: str, labels: Labels, taints: Taints) -> str:
    template = _without_empty(
        {
            "metadata": {"labels": labels} if labels else {},
            "spec": _without_empty({"taints": _taint_list(taints)}),
        }
    )
    return emit(
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": pool},
            "spec": {"template": template},
        }
    )


def _eks(pool: str, labels: Labels, taints: Taints) -> str:
    group = _without_empty({"name": pool, "labels": labels, "taints": _taint_list(taints)})
    return emit({"managedNodeGroups": [group]})


def _gke(pool: str, labels: Labels, taints: Taints) -> str:
    parts = ["gcloud", "container", "node-pools", "create", pool]
    if labels:
        parts.append(f"--node-labels={_pairs(labels)}")
    if taints:
        parts.append("--node-taints=" + ",".join(_taint(taint) for taint in taints))
    return " ".join(shlex.quote(part) for part in parts) + "\n"


def _aks(pool: str, labels: Labels, taints: Taints) -> str:
    parts = ["az", "aks", "nodepool", "add", "--name", pool]
    if labels:
        parts += ["--labels", *(f"{key}={value}" for key, value in labels.items())]
    if taints:
        parts += ["--node-taints", ",".join(_taint(taint) for taint in taints)]
    return " ".join(shlex.quote(part) for part in parts) + "\n"


def _rancher(_pool: str, labels: Labels, taints: Taints) -> str:
    """config.yaml of a k3s or RKE2 agent."""
    return emit(
        _without_empty(
            {
                "node-label": [f"{key}={value}" for key, value in labels.items()],
                "node-taint": [_taint(taint) for taint in taints],
            }
        )
    )


def _k0s(_pool: str, labels: Labels, taints: Taints) -> str:
    parts = ["k0s", "worker"]
    if labels:
        parts.append(f"--labels={_pairs(labels)}")
    if taints:
        parts.append("--taints=" + ",".join(_taint(taint) for taint in taints))
    return " ".join(shlex.quote(part) for part in parts) + "\n"


def _talos(_pool: str, labels: Labels, taints: Taints) -> str:
    marks = {taint.key: f"{taint.value}:{taint.effect.value}" for taint in taints}
    return emit({"machine": _without_empty({"nodeLabels": labels, "nodeTaints": marks})})


_TOOLS: dict[str, Callable[[str, Labels, Taints], str]] = {
    "kubelet": _kubelet,
    "kubeadm": _kubeadm,
    "cluster-api": _cluster_api,
    "karpenter": _karpenter,
    "eks": _eks,
    "gke": _gke,
    "aks": _aks,
    "k3s": _rancher,
    "rke2": _rancher,
    "microk8s": _kubelet,
    "k0s": _k0s,
    "talos": _talos,
}
