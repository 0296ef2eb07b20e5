"""How far a privilege reaches: the published table, and what is read from it."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.privilege import PRIVILEGE_NAMES, Privilege
from poolsmith.guard.ledger.reach import Reach, reach_of, reach_table

EXPECTED = {
    "node-root": [
        "privileged",
        "host-path:/:rw:none",
        "capability:SYS_ADMIN",
        "capability:SYS_PTRACE",
        "capability:ALL",
        "capability:INVENTED",
        "proc-mount:unmasked",
    ],
    "node-write": [
        "host-path:/run/containerd:rw:none",
        "host-path:/etc:rw:none",
        "host-pid",
        "host-ipc",
        "capability:SYS_TIME",
        "sysctl:kernel.core_pattern",
        "sysctl:kernel.semantics",
    ],
    "cluster-write": [
        "rbac:rbac.authorization.k8s.io/clusterroles:create@cluster",
        "rbac:rbac.authorization.k8s.io/clusterroles:escalate@cluster",
        "rbac:core/users:impersonate@cluster",
        "rbac:core/nodes:patch@cluster",
        "rbac:core/nodes/status:patch@cluster",
        "rbac:core/nodes/proxy:get@cluster",
        "rbac:core/pods/exec:get@ns/a",
        "rbac:core/pods:create@ns/a",
        "rbac:core/pods/eviction:create@cluster",
        "rbac:apps/daemonsets:update@ns/a",
        "rbac:nvidia.com/clusterpolicies:update@cluster",
        "rbac:core/serviceaccounts/token:create@ns/a",
        "rbac:core/secrets:update@ns/a",
        "rbac:*/*:*@cluster",
        "rbac:*/*:get@cluster",
        "rbac:core/*:get@ns/a",
        "rbac:core/events:*@ns/a",
        "rbac:*/status:patch@cluster",
        "rbac:core/*/status:patch@cluster",
        "rbac:certificates.k8s.io/signers:approve@cluster",
    ],
    "secrets": [
        "rbac:core/secrets:get@ns/a#b",
        "rbac:core/secrets:list@cluster",
        "rbac:core/secrets:watch@cluster",
        "rbac:*/secrets:get@ns/a",
    ],
    "node-read": [
        "host-path:/:ro:host-to-container",
        "host-path:/sys:ro:none",
        "capability:SYSLOG",
        "rbac:core/nodes/log:get@cluster",
    ],
    "network": ["host-network", "host-port:80", "capability:NET_ADMIN", "rbac:core/pods/portforward:create@ns/a"],
    "object-write": [
        "rbac:core/events:create@ns/a",
        "rbac:coordination.k8s.io/leases:update@ns/a",
        "rbac:nvidia.com/clusterpolicies/finalizers:update@cluster",
        "rbac:apps/daemonsets/status:patch@ns/a",
    ],
    "cluster-read": [
        "rbac:core/pods:list@cluster",
        "rbac:core/configmaps:get@ns/a",
        "rbac:apps/*:get@cluster",
        "rbac:authentication.k8s.io/tokenreviews:create@cluster",
        "rbac:nonResourceURLs/*:*@cluster",
    ],
    "none": [
        "run-as-root",
        "allow-escalation",
        "seccomp:unconfined",
        "apparmor:unconfined",
        "selinux:spc_t",
        "sysctl:net.core.somaxconn",
        "capability:CHOWN",
        "capability:IPC_LOCK",
        "rbac:security.openshift.io/securitycontextconstraints:use@ns/a#privileged",
    ],
}


@pytest.mark.parametrize(("text", "reach"), [(text, reach) for reach, texts in EXPECTED.items() for text in texts])
def test_a_privilege_reaches_as_far_as_the_table_says(text, reach):
    assert str(reach_of(Privilege.parse(text))) == reach


def test_reaches_are_ordered_from_the_worst_on():
    assert [str(reach) for reach in sorted(Reach)] == list(EXPECTED)
    assert min(Reach.NONE, Reach.NODE_ROOT) is Reach.NODE_ROOT


def test_each_reach_has_a_meaning():
    assert all(reach.meaning for reach in Reach)


def test_the_table_has_a_line_for_each_name_with_a_reason():
    rows = reach_table()

    assert {row.name for row in rows} == set(PRIVILEGE_NAMES)
    assert all(row.because for row in rows)
    assert len({row.pattern for row in rows}) == len(rows)


def test_each_line_of_the_table_decides_something():
    privileges = [Privilege.parse(text) for texts in EXPECTED.values() for text in texts]
    shadowed = [
        row.pattern
        for place, row in enumerate(reach_table())
        if any(row.touches(item) for item in privileges)
        and not any(
            row.touches(item) and not any(earlier.touches(item) for earlier in reach_table()[:place])
            for item in privileges
        )
    ]

    assert shadowed == []
