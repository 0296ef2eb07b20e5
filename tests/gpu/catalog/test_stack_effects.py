"""What a table says that a chart beside the operator's reads is held against what Helm made of each such value."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.value_paths import value_paths
from support.recordings import recording

SILENT = {
    "dcgm-exporter": {"extraHostVolumes", "kubernetes.rbac.create", "tlsServerConfig"},
    "node-feature-discovery": {
        "gc.serviceAccount.create",
        "master.service",
        "nodeFeatureRule.createCRD",
        "tls.certManagerCertificate",
        "topologyUpdater.kubeletConfigPath",
    },
    "nvidia-device-plugin": {
        "allowDefaultNamespace",
        "config.default",
        "config.fallbackStrategies",
        "failOnInitError",
        "gdrcopyEnabled",
        "gdsEnabled",
        "mofedEnabled",
        "namespace",
        "noTimestamp",
        "sleepInterval",
    },
    "network-operator": {
        "nfd.enabled",
        "operator.admissionController.certificate",
        "operator.admissionController.useCertManager",
        "operator.maintenanceOperator",
        "rdmaSharedDevicePlugin.resources",
        "test.pf",
    },
    "nvidia-dra-driver-gpu": {
        "allowDefaultNamespace",
        "gpuResourcesEnabledOverride",
        "imagePullSecrets",
        "namespace",
        "nvidiaCtkPath",
        "webhook.tls",
    },
    "kata-deploy": {
        "customRuntimes",
        "deploymentMode",
        "devkit",
        "env",
        "fullnameOverride",
        "health",
        "job",
        "k8sDistribution",
        "nameOverride",
        "runtimeClasses",
        "shims",
        "verification",
    },
}
"""Beneath these stands what a value of its type alone does not bring out: a mode, a namespace, another value beside it."""


@pytest.mark.parametrize("chart", SILENT)
def test_what_a_chart_reads_changes_what_helm_renders(chart: str) -> None:
    shown = recording("stack_effects")
    tags = [key for key in shown if key.startswith(f"{chart}/")]
    assert {key.partition("/")[2] for key in tags} == set(value_paths(chart).tags), "run record_stack_effects.py"
    paths = value_paths(chart)
    silent = {
        path
        for tag in tags
        for path, effect in shown[tag].items()
        if effect in ("nothing", "refused") and paths.ignored(tuple(path.split(".")), tag.partition("/")[2]) is None
    }
    assert {path for path in silent if not any(f"{path}.".startswith(f"{known}.") for known in SILENT[chart])} == set()
    assert all(any(f"{path}.".startswith(f"{known}.") for path in silent) for known in SILENT[chart])
