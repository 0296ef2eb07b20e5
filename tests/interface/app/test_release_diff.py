"""The known differences between releases are found, each by one command, by default where that can be."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.interface.app.ledger import LedgerFilter
from poolsmith.interface.app.ledger_diff import release_diff

A, B, C, D, E = "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"
NFD = "gpu-operator-node-feature-discovery-worker"
OPERATOR = "gpu-operator"
DRIVER = "nvidia-driver-daemonset"
GFD = "gpu-feature-discovery"
TOOLKIT = "nvidia-container-toolkit-daemonset"
SANDBOX = "nvidia-sandbox-device-plugin-daemonset"
KATA = "nvidia-kata-sandbox-device-plugin-daemonset"
KATA_MODE = ("sandboxWorkloads.enabled=true", "sandboxWorkloads.mode=kata")
NRI = ("cdi.nriPluginEnabled=true",)
RUNTIME = "host-path:/run/containerd:rw:none"

ROWS = [
    # feature discovery is no longer bound to the operator's ClusterRole
    (A, B, (), "removed", NFD, "", "rbac:core/pods:create@cluster"),
    (A, B, (), "removed", NFD, "", "rbac:nvidia.com/clusterpolicies:delete@cluster"),
    # the operator's own ClusterRole
    (A, B, (), "removed", OPERATOR, "", "rbac:core/pods:delete@cluster"),
    (A, B, (), "removed", OPERATOR, "", "rbac:core/pods/eviction:patch@cluster"),
    (A, B, (), "removed", OPERATOR, "", "rbac:core/namespaces:create@cluster"),
    (A, B, (), "removed", OPERATOR, "", "rbac:core/events:patch@cluster"),
    # drivers and managers evict pods, and no longer write them
    (A, B, (), "removed", DRIVER, "", "rbac:core/pods:delete@cluster"),
    (A, B, (), "removed", DRIVER, "", "rbac:core/pods/eviction:update@cluster"),
    (A, B, (), "removed", "nvidia-vgpu-manager-daemonset", "", "rbac:core/pods:delete@cluster"),
    (A, B, (), "removed", "nvidia-vfio-manager", "", "rbac:core/pods:patch@cluster"),
    (A, B, (), "added", "nvidia-vfio-manager", "", "rbac:core/pods/eviction:create@cluster"),
    # GPU feature discovery
    (A, B, (), "removed", GFD, "gpu-feature-discovery-imex-init", "privileged"),
    (A, B, (), "widened", GFD, "gpu-feature-discovery", "host-path:/sys:ro:none"),
    (A, B, (), "widened", GFD, "toolkit-validation", "host-path:/run/nvidia:rw:host-to-container"),
    (A, B, (), "added", DRIVER, "nvidia-driver-ctr", "host-path:/run/nvidia-fabricmanager:rw:none"),
    (A, B, (), "added", "nvidia-device-plugin-mps-control-daemon", "", "host-pid"),
    # 25.10
    (B, C, (), "added", "nvidia-vgpu-device-manager", "nvidia-vgpu-device-manager", "host-path:/:rw:host-to-container"),
    (
        B,
        C,
        (),
        "added",
        "nvidia-vgpu-device-manager",
        "nvidia-vgpu-device-manager",
        "host-path:/run/nvidia/driver:rw:host-to-container",
    ),
    (B, C, (), "added", TOOLKIT, "nvidia-container-toolkit-ctr", "host-path:/etc/containerd/conf.d:rw:none"),
    (B, C, ("dcgmExporter.hostPID=true",), "added", "nvidia-dcgm-exporter", "", "host-pid"),
    (B, C, (), "added", GFD, "", "rbac:nfd.k8s-sigs.io/nodefeatures:update@ns/gpu-operator"),
    (B, C, (), "added", OPERATOR, "", "rbac:nfd.k8s-sigs.io/nodefeatures:create@ns/gpu-operator"),
    (B, C, (), "added", "nvidia-operator-validator", "gdrcopy-validation", "privileged"),
    # 26.3
    (C, D, (), "removed", OPERATOR, "gpu-operator", "host-path:/etc/os-release:ro:none"),
    (C, D, ("gfd.hostNetwork=true",), "added", GFD, "", "host-network"),
    (C, D, ("dcgmExporter.hostNetwork=true",), "added", "nvidia-dcgm-exporter", "", "host-network"),
    (C, D, KATA_MODE, "added", KATA, "nvidia-kata-sandbox-device-plugin-ctr", "privileged"),
    (C, D, (), "added", SANDBOX, "nvidia-sandbox-device-plugin-ctr", "host-path:/var/run/cdi:rw:none"),
    (C, D, (), "added", SANDBOX, "", "rbac:core/pods:delete@ns/gpu-operator"),
    (C, D, (), "added", SANDBOX, "", "rbac:nfd.k8s-sigs.io/nodefeatures:create@ns/gpu-operator"),
    (C, D, (), "added", "nvidia-mig-manager", "", "rbac:core/configmaps:update@ns/gpu-operator"),
    (C, D, (), "added", GFD, "", "rbac:core/pods:get@ns/gpu-operator"),
    (
        C,
        D,
        (),
        "narrowed",
        "nvidia-dcgm-exporter",
        "",
        "rbac:security.openshift.io/securitycontextconstraints:use@ns/gpu-operator#privileged",
    ),
    (C, D, (), "added", "nvidia-vfio-manager", "nvidia-vfio-manager", "host-path:/lib/modules:ro:none"),
    (C, D, (*KATA_MODE, "ccManager.enabled=true"), "moved", "nvidia-cc-manager", "nvidia-cc-manager", "privileged"),
    (C, D, (), "removed", "nvidia-operator-validator", "nvidia-fs-validation", "privileged"),
    (C, D, (), "removed", "nvidia-operator-validator", "gdrcopy-validation", "privileged"),
    # 26.7
    (D, E, (), "widened", DRIVER, "nvidia-driver-ctr", "host-path:/sys/devices/system:rw:none"),
    (D, E, (), "added", DRIVER, "", "rbac:resource.k8s.io/resourceclaims:list@cluster"),
    (D, E, (), "added", "nvidia-mig-manager", "", "rbac:core/pods:list@cluster"),
    (D, E, (), "removed", "nvidia-dcgm-exporter", "", "rbac:core/pods:list@ns/gpu-operator"),
    (D, E, NRI, "removed", TOOLKIT, "nvidia-container-toolkit-ctr", RUNTIME),
    (D, E, (), "removed", "gpu-operator-node-feature-discovery-gc", "", "rbac:core/nodes/proxy:get@cluster"),
    (D, E, (), "added", OPERATOR, "", "rbac:core/pods:patch@cluster"),
    (
        D,
        E,
        (),
        "added",
        OPERATOR,
        "",
        "rbac:admissionregistration.k8s.io/validatingadmissionpolicies:create@cluster",
    ),
    (D, E, (), "added", OPERATOR, "", "rbac:resource.k8s.io/deviceclasses:delete@cluster"),
    (D, E, (), "added", OPERATOR, "", "rbac:resource.k8s.io/resourceclaimtemplates:create@cluster"),
    (D, E, (), "added", OPERATOR, "", "rbac:coordination.k8s.io/leases:update@cluster"),
    (D, E, (), "added", OPERATOR, "", "rbac:apps/deployments:delete@ns/gpu-operator"),
    (D, E, (), "added", "gpu-operator-cleanup-gpucluster", "cleanup-gpucluster", "allow-escalation"),
]


@pytest.fixture(scope="module")
def changes():
    known = {}

    def between(before, after, settings):
        if (before, after, settings) not in known:
            result = release_diff(before, after, LedgerFilter(), settings)
            known[before, after, settings] = [change for part in result.parts for change in part.changes.changes]
        return known[before, after, settings]

    return between


@pytest.mark.rows(22, "a row takes 0.023 s; each value of each column is seen first")
@pytest.mark.parametrize(
    ("before", "after", "settings", "kind", "workload", "container", "privilege"),
    ROWS,
    ids=[f"{row[1]}-{row[3]}-{row[4]}-{row[6]}" for row in ROWS],
)
def test_a_known_difference_is_found(changes, before, after, settings, kind, workload, container, privilege):
    found = {
        (str(change.kind), change.workload.partition("/")[2], change.container, str(change.new or change.old))
        for change in changes(before, after, settings)
    }

    assert (kind, workload, container, privilege) in found


def test_a_release_does_not_differ_from_itself(changes):
    assert changes(D, D, ()) == []


def test_going_back_takes_what_going_forth_gave(changes):
    forth = {(item.workload, item.container, item.new) for item in changes(C, D, ()) if item.kind is ChangeKind.ADDED}
    back = {(item.workload, item.container, item.old) for item in changes(D, C, ()) if item.kind is ChangeKind.REMOVED}

    assert forth
    assert forth == back
