"""Pods of the operator's chart: sets of values, what is predicted of them, and the policy that follows from it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.guard.ledger.claims.claim_table import ClaimTable, claim_table
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

NAMESPACE = "gpu-operator"
RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
_DISCOVERY = "node-feature-discovery"
_HOOKS = {"cleanupCRD": True, "upgradeCRD": True}
CASES: dict[str, dict[str, Any]] = {
    "all workloads": {
        "operator": _HOOKS,
        _DISCOVERY: {"topologyUpdater": {"enable": True, "createCRDs": True}, "gc": {"enable": True}},
    },
    "the operator told otherwise": {
        "operator": {
            **_HOOKS,
            "repository": "registry.example.com:5000/own",
            "imagePullSecrets": ["ngc"],
            "priorityClassName": "system-cluster-critical",
            "runtimeClass": "own",
            "logging": {"timeEncoding": "iso8601", "level": "debug", "develMode": True},
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "tolerations": [{"operator": "Exists"}],
            "annotations": {"example.com/a": "b"},
        },
        "nfd": {"enabled": False},
    },
    "discovery told otherwise": {
        _DISCOVERY: {
            "fullnameOverride": "own-discovery",
            "image": {"repository": "registry.example.com/nfd", "pullPolicy": "Always"},
            "imagePullSecrets": [{"name": "ngc"}],
            "priorityClassName": "system-node-critical",
            "master": {
                "instance": "own",
                "extraLabelNs": ["example.com"],
                "denyLabelNs": ["x.example.com"],
                "resyncPeriod": "1h",
                "nfdApiParallelism": 4,
                "replicaCount": 2,
                "podSecurityContext": {"fsGroup": 1},
            },
            "worker": {
                "mountUsrSrc": True,
                "config": {"core": {"sleepInterval": "30s"}},
                "podSecurityContext": {"fsGroup": 2},
                "tolerations": [{"operator": "Exists"}],
            },
            "topologyUpdater": {
                "enable": True,
                "createCRDs": True,
                "updateInterval": "30s",
                "watchNamespace": "own",
                "kubeletConfigPath": "/var/lib/kubelet/config.yaml",
                "kubeletPodResourcesSockPath": "/var/lib/kubelet/pod-resources/kubelet.sock",
                "podSetFingerprint": False,
            },
            "gc": {"enable": True, "interval": "2h"},
            "prometheus": {"enable": True},
        },
    },
}
"""Values over the chart's own, by what they do."""


@cache
def table_of(release: str, text: str) -> ClaimTable:
    """What the predicted workloads of the chart may have; `text` are the values as JSON. All is granted."""
    merged = merge_over_defaults(read_chart("gpu-operator", release).defaults, json.loads(text))
    objects = operator_chart_objects(release, merged, NAMESPACE)
    assert not objects.errors, objects.errors
    return claim_table([*objects.objects, *objects.hooks], lambda *_: True).holding((NAMESPACE,))
