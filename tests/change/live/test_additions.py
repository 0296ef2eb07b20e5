"""What somebody adds to an object that is known whole is told: on clusters as their operators have left them."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from change.live.conftest import ROOT
from poolsmith.gpu.catalog.live_resources import CLUSTER_POLICIES, DRIVERS
from poolsmith.kubernetes.live.api_resources import WORKLOADS
from support.live_cluster import recorded_snapshot, told, view

DAEMON_SETS, DEPLOYMENTS = WORKLOADS[:2]
POD, CONTAINER = "spec.template.spec", "spec.template.spec.containers.0"
TO_WORKLOADS = [
    (
        f"{POD}.affinity",
        {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}, "podAffinity": {"x": 1}},
    ),
    (f"{POD}.hostAliases", [{"ip": "10.0.0.1", "hostnames": ["nvcr.io"]}]),
    (f"{POD}.dnsPolicy", "None"),
    (f"{POD}.dnsConfig", {"nameservers": ["10.0.0.1"]}),
    (f"{POD}.terminationGracePeriodSeconds", 5),
    (f"{POD}.enableServiceLinks", False),
    (f"{POD}.schedulerName", "mine"),
    (f"{POD}.shareProcessNamespace", True),
    (f"{POD}.securityContext.runAsUser", 1000),
    (f"{POD}.nodeSelector.example\x2ecom/some", "node"),
    (f"{POD}.imagePullSecrets", [{"name": "mine"}]),
    (f"{CONTAINER}.resources.limits", {"memory": "1Gi"}),
    (f"{CONTAINER}.lifecycle", {"preStop": {"exec": {"command": ["sh"]}}}),
    (f"{CONTAINER}.envFrom", [{"secretRef": {"name": "mine"}}]),
    (f"{CONTAINER}.workingDir", "/tmp"),
    (f"{CONTAINER}.terminationMessagePolicy", "FallbackToLogsOnError"),
    (f"{CONTAINER}.securityContext.runAsGroup", 7),
    ("spec.minReadySeconds", 60),
    ("spec.revisionHistoryLimit", 1),
]
FILLED_IN = [
    (f"{POD}.dnsPolicy", "ClusterFirst"),
    (f"{POD}.terminationGracePeriodSeconds", 30),
    (f"{POD}.serviceAccount", "nvidia-dcgm-exporter"),
    (f"{POD}.affinity", {}),
    ("spec.template.metadata.annotations", {"kubectl.kubernetes.io/restartedAt": "2026-11-25T00:00:00Z"}),
    ("metadata.annotations.mine", "yes"),
    ("metadata.labels.mine", "yes"),
    ("status.observedGeneration", 5),
]


@pytest.fixture(scope="module")
def recorded():
    cluster = view(ROOT, "prod-eu")
    return cluster, recorded_snapshot(cluster)


def with_field(recorded, resource, name, path, value):
    """What is said where one object has one field more, or with another value."""
    cluster, snapshot = recorded
    items = [copy.deepcopy(item) for item in snapshot.items(resource)]
    (node,) = [item for item in items if item["metadata"]["name"] == name]
    *above, last = path.replace("example.com", "example\0com").split(".")
    for key in above:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    node[last.replace("\0", ".")] = value
    lists = tuple(replace(item, items=tuple(items)) if item.resource == resource else item for item in snapshot.lists)
    return told(cluster, replace(snapshot, lists=lists))


@pytest.mark.rows(5, "each field once, in either kind of workload")
@pytest.mark.parametrize(("resource", "name"), [(DAEMON_SETS, "nvidia-dcgm-exporter"), (DEPLOYMENTS, "gpu-operator")])
@pytest.mark.parametrize(("path", "value"), TO_WORKLOADS, ids=[path for path, _ in TO_WORKLOADS])
def test_a_field_that_nobody_gave_is_told(recorded, resource, name, path, value):
    (text,) = with_field(recorded, resource, name, path, value)

    assert text.startswith(f"PSM851 `{resource.kind}/{name}`")
    assert path.rpartition(".")[2].replace("\0", ".").split("/")[0] in text


def test_a_rollout_that_is_held_is_told(recorded):
    (text,) = with_field(recorded, DEPLOYMENTS, "gpu-operator", "spec.paused", value=True)

    assert "`spec.paused` has `true` more" in text


@pytest.mark.rows(3, "a row takes 0.2 s; each value of each column is seen first")
@pytest.mark.parametrize(("path", "value"), FILLED_IN, ids=[path for path, _ in FILLED_IN])
def test_what_the_server_and_tools_write_is_not(recorded, path, value):
    assert with_field(recorded, DAEMON_SETS, "nvidia-dcgm-exporter", path, value) == []


@pytest.mark.parametrize(
    ("resource", "name", "path", "value"),
    [
        (CLUSTER_POLICIES, "cluster-policy", "spec.toolkit.installDir", "/opt/mine"),
        (CLUSTER_POLICIES, "cluster-policy", "spec.devicePlugin.args", ["--mine"]),
        (DRIVERS, "l40s-crio-gpu-compiled", "spec.kernelModuleConfig", {"name": "mine"}),
    ],
)
def test_a_field_that_nobody_gave_to_a_custom_resource_is_told(recorded, resource, name, path, value):
    (text,) = with_field(recorded, resource, name, path, value)

    assert text.startswith(f"PSM851 `{resource.kind}/{name}`")
    assert f"`{path}`" in text


def test_a_privilege_that_is_added_is_told_once_by_the_ledger(recorded):
    (text,) = with_field(recorded, DAEMON_SETS, "nvidia-dcgm-exporter", f"{POD}.hostIPC", value=True)

    assert text.startswith("PSM853")
