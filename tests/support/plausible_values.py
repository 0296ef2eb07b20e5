"""What stands at a value path of a chart, by its last key or by the whole path: one draw gives one plausible value."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

Made = dict[str, Any]
_Kind = TypeVar("_Kind")
DISCOVERY = "node-feature-discovery"

_WORDS = ("blue", "green", "gpu-pool-7", "nightly", "team.a", "x", "tier_1", "r2d2")


def word(draw: random.Random) -> str:
    return draw.choice(_WORDS)


def some(draw: random.Random, *choices: _Kind) -> _Kind:
    return copy.deepcopy(draw.choice(choices))


def _env(draw: random.Random) -> list[Made]:
    names = draw.sample(("HTTPS_PROXY", "NO_PROXY", "LOG_LEVEL", "NVIDIA_VISIBLE_DEVICES", "TZ", "EMPTY"), 2)
    texts = ("http://proxy.example.com:3128", "10.0.0.0/8,.svc", "debug", "true", "7", "a=b", "")
    return [{"name": name, "value": draw.choice(texts)} for name in names[: draw.randint(0, 2)]]


def tolerations(draw: random.Random) -> list[Made]:
    return some(
        draw,
        [],
        [{"operator": "Exists"}],
        [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        [{"key": "pool", "operator": "Equal", "value": "gpu", "effect": "NoExecute", "tolerationSeconds": 60}],
    )


def _affinity(draw: random.Random) -> Made:
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["gpu", "infra"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}]}
    return some(draw, {}, {"nodeAffinity": required}, {"nodeAffinity": preferred})


def _resources(draw: random.Random) -> Made:
    return some(
        draw,
        {},
        {"limits": {"cpu": "500m", "memory": "1Gi"}},
        {"limits": {"cpu": 2, "memory": "350Mi"}, "requests": {"cpu": "100m", "memory": "200Mi"}},
        {"requests": {"ephemeral-storage": "1Gi"}},
    )


def labels(draw: random.Random) -> dict[str, str]:
    return some(draw, {}, {"team": "gpus"}, {"example.com/tier": "1", "owner": "ml.platform"}, {"enabled": "true"})


def node_selector(draw: random.Random) -> dict[str, str]:
    return some(draw, {}, {"kubernetes.io/os": "linux"}, {"pool": "gpu", "gpu": "true"})


def _pull_secrets(draw: random.Random) -> list[str]:
    return some(draw, [], ["registry-a"], ["registry-a", "ngc.secret"])


def _version(draw: random.Random) -> str:
    return draw.choice(
        ("v1.2.3", "580.95.05", "4.5.2-1-ubuntu22.04", "latest", f"sha256:{'0af3' * 16}", "25.10", "2024")
    )


def boolean(draw: random.Random) -> bool:
    return draw.random() < 0.5


def _probe(draw: random.Random) -> Made:
    return some(draw, {"initialDelaySeconds": 7, "timeoutSeconds": 3}, {"failureThreshold": 4, "periodSeconds": 11})


def _security_context(draw: random.Random) -> Made:
    return some(draw, {}, {"runAsUser": 1000, "runAsNonRoot": True}, {"seccompProfile": {"type": "RuntimeDefault"}})


def _containers(draw: random.Random) -> list[Made]:
    return some(draw, [], [{"name": "wait", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 1"]}])


def _ports(draw: random.Random) -> list[Made]:
    return some(draw, [], [{"ports": [{"port": 443, "protocol": "TCP"}]}])


BY_KEY: dict[str, Callable[[random.Random], Any]] = {
    "affinity": _affinity,
    "annotations": labels,
    "args": lambda draw: some(draw, [], ["--verbose"], ["--level=3", "a b", "--flag"]),
    "createCRDs": lambda draw: draw.random() > 0.7,
    "daemonsetAnnotations": labels,
    "denyLabelNs": lambda draw: some(draw, [], ["a.example.com", "*.b.io"]),
    "deploymentAnnotations": labels,
    "dnsPolicy": lambda draw: draw.choice(("Default", "ClusterFirst")),
    "egress": _ports,
    "env": _env,
    "extraArgs": lambda draw: some(draw, [], ["-v=2"], ["-klog", "--x=y z"]),
    "extraEnvs": _env,
    "extraLabelNs": lambda draw: some(draw, [], ["example.com"], ["nvidia.com", "example.com"]),
    "featureGates": lambda draw: some(draw, {}, {"NodeFeatureGroupAPI": "true"}, {"A": "false", "B": "true"}),
    "fullnameOverride": lambda draw: draw.choice(("", "gpus", "nfd-own")),
    "hostNetwork": boolean,
    "hostUsers": boolean,
    "image": lambda draw: draw.choice(("driver", "gpu-operator", "k8s/tool_x", "1234")),
    "imagePullPolicy": lambda draw: draw.choice(("Always", "IfNotPresent", "Never")),
    "imagePullSecrets": _pull_secrets,
    "ingress": _ports,
    "initContainers": _containers,
    "instance": lambda draw: draw.choice(("", "one", "b.example")),
    "interval": lambda draw: draw.choice(("15s", "1m", "1h30m")),
    "kubeletConfigPath": lambda draw: draw.choice(("", "/var/lib/kubelet/config.yaml")),
    "kubeletPodResourcesSockPath": lambda draw: draw.choice(("", "/run/kubelet.sock")),
    "kubeletStateDir": lambda draw: draw.choice(("", "/var/lib/k0s/kubelet")),
    "labels": labels,
    "level": lambda draw: draw.choice(("info", "debug", "error", "3")),
    "livenessProbe": _probe,
    "name": lambda draw: draw.choice(("own-name", "b.2", "x-1")),
    "nameOverride": lambda draw: draw.choice(("", "gpus", "a-very-long-name-of-a-chart")),
    "namespaceOverride": lambda draw: draw.choice(("", "elsewhere")),
    "nfdApiParallelism": lambda draw: draw.randint(1, 20),
    "nodeSelector": node_selector,
    "nodefeaturerules": boolean,
    "ownerRefs": lambda draw: some(draw, [], ["pod"], ["ds", "node"]),
    "podSecurityContext": _security_context,
    "port": lambda draw: draw.randint(1024, 40000),
    "healthPort": lambda draw: draw.randint(1024, 40000),
    "metricsPort": lambda draw: draw.randint(1024, 40000),
    "priorityClassName": lambda draw: draw.choice(("", "gpu-critical", "system-cluster-critical")),
    "pullPolicy": lambda draw: draw.choice(("Always", "IfNotPresent")),
    "readinessProbe": _probe,
    "replicaCount": lambda draw: draw.randint(1, 3),
    "repository": lambda draw: draw.choice(("nvcr.io/nvidia", "registry.example.com:5000/gpus", "docker.io")),
    "resources": _resources,
    "resyncPeriod": lambda draw: draw.choice(("1h", "30m")),
    "revisionHistoryLimit": lambda draw: draw.randint(0, 10),
    "scrapeInterval": lambda draw: draw.choice(("10s", "1m")),
    "securityContext": _security_context,
    "serviceMonitor": lambda draw: {"enabled": boolean(draw), "interval": "30s", "additionalLabels": labels(draw)},
    "tag": _version,
    "tolerations": tolerations,
    "updateInterval": lambda draw: draw.choice(("60s", "5m")),
    "updateStrategy": lambda draw: draw.choice(("RollingUpdate", "OnDelete")),
    "version": _version,
    "watchNamespace": lambda draw: draw.choice(("*", "gpu-jobs")),
}
"""What stands at a path that ends so."""
for _count in ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds"):
    BY_KEY[_count] = lambda draw: draw.randint(1, 90)
_NUMBERED = ("enable", "enabled", "create", "enableTaints", "podSetFingerprint", "mountUsrSrc", "postDeleteCleanup")
for _switch in _NUMBERED:
    BY_KEY[_switch] = boolean

_ROLLING: tuple[Made, ...] = (
    {},
    {"type": "OnDelete"},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "20%"}},
)
BY_PATH: dict[str, Callable[[random.Random], Any]] = {
    "dcgmExporter.config.data": lambda draw: draw.choice(("DCGM_FI_DEV_GPU_TEMP, gauge, T\n", "# none\nA, gauge, b")),
    "devicePlugin.config.data": lambda draw: some(draw, {}, {"default": "version: v1\nflags:\n  migStrategy: none\n"}),
    "extraObjects": lambda draw: some(
        draw,
        [],
        [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra"}, "data": {"a": "b"}}],
        ["apiVersion: v1\nkind: Secret\nmetadata:\n  name: s-{{ .Release.Name }}\nstringData: {k: v}\n"],
    ),
    "migManager.config.data": lambda draw: some(
        draw,
        {},
        {"config.yaml": "version: v1\nmig-configs:\n  all-disabled:\n    - devices: all\n      mig-enabled: false\n"},
    ),
    "operator.defaultGPUMode": lambda draw: draw.choice(("container", "vm-passthrough")),
    "operator.logging.level": lambda draw: draw.choice(("info", "debug", "error", 2)),
    "operator.logging.timeEncoding": lambda draw: draw.choice(("epoch", "iso8601", "nano")),
    f"{DISCOVERY}.master.config": lambda draw: some(draw, {"extraLabelNs": ["b.io"], "resyncPeriod": "2h"}, {}, None),
    f"{DISCOVERY}.topologyUpdater.config": lambda draw: some(draw, {"excludeList": {"node1": ["memory"]}}, {}, None),
    f"{DISCOVERY}.worker.config": lambda draw: some(draw, {"core": {"labelWhiteList": "a: #b"}}, {}, None),
    f"{DISCOVERY}.imagePullSecrets": lambda draw: [{"name": name} for name in _pull_secrets(draw)],
    f"{DISCOVERY}.worker.updateStrategy": lambda draw: some(draw, *_ROLLING),
}
