"""Which privilege includes which."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.privilege import Privilege, covers, widens

WIDER = [
    ("host-path:/run/nvidia:ro:none", "host-path:/run:ro:none"),
    ("host-path:/run/nvidia:ro:none", "host-path:/:ro:none"),
    ("host-path:/run/nvidia:ro:none", "host-path:/run/nvidia:rw:none"),
    ("host-path:/run/nvidia:ro:none", "host-path:/run/nvidia:ro:host-to-container"),
    ("host-path:/run/nvidia:ro:host-to-container", "host-path:/run/nvidia:ro:bidirectional"),
    ("host-path:/run/nvidia:ro:none", "host-path:/:rw:bidirectional"),
    ("capability:NET_RAW", "capability:ALL"),
    ("rbac:core/pods:get@ns/a", "rbac:core/pods:get@cluster"),
    ("rbac:core/pods:get@ns/a#b", "rbac:core/pods:get@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:core/pods:*@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:core/*:get@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:*/pods:get@ns/a"),
    ("rbac:core/pods/log:get@ns/a", "rbac:core/*/log:get@ns/a"),
    ("rbac:core/*/log:get@ns/a", "rbac:core/*:get@ns/a"),
    ("rbac:core/pods/log:get@ns/a#b", "rbac:*/*:*@cluster"),
    ("rbac:nonResourceURLs/healthz/etcd:get@cluster", "rbac:nonResourceURLs/healthz/*:get@cluster"),
    ("rbac:nonResourceURLs/healthz/*:get@cluster", "rbac:nonResourceURLs/*:*@cluster"),
]

UNRELATED = [
    ("host-path:/run/nvidia:ro:none", "host-path:/run/nvidia-x:ro:none"),
    ("host-path:/run/nvidia:rw:none", "host-path:/run:ro:none"),
    ("host-path:/run:ro:host-to-container", "host-path:/:rw:none"),
    ("capability:NET_RAW", "capability:NET_ADMIN"),
    ("capability:NET_RAW", "privileged"),
    ("host-port:80", "host-network"),
    ("host-port:80", "host-port:81"),
    ("sysctl:net.core.somaxconn", "sysctl:net.core.rmem_max"),
    ("rbac:core/pods/log:get@ns/a", "rbac:core/pods:get@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:core/*/log:get@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:core/pods:list@ns/a"),
    ("rbac:core/pods:get@ns/a", "rbac:core/pods:get@ns/b"),
    ("rbac:core/pods:get@ns/a", "rbac:apps/pods:get@cluster"),
    ("rbac:nonResourceURLs/metrics:get@cluster", "rbac:*/*:*@cluster"),
    ("rbac:nonResourceURLs/metrics:get@cluster", "rbac:nonResourceURLs/healthz/*:get@cluster"),
]


@pytest.mark.parametrize(("narrow", "wide"), WIDER)
def test_less_restricted_is_wider(narrow, wide):
    assert widens(Privilege.parse(narrow), Privilege.parse(wide))
    assert not covers(Privilege.parse(narrow), Privilege.parse(wide))


@pytest.mark.parametrize(("one", "other"), UNRELATED)
def test_what_differs_otherwise_is_not_compared(one, other):
    assert not covers(Privilege.parse(one), Privilege.parse(other))
    assert not covers(Privilege.parse(other), Privilege.parse(one))


@pytest.mark.parametrize("path", ["/a/../b", "//b", "/b/", "/./b/.", "/b/c/..", "/../b"])
def test_no_way_to_write_a_path_slips_past(path):
    granted = Privilege.parse("host-path:/a:rw:none")
    wanted = Privilege.parse(f"host-path:{path}:rw:none")

    assert not covers(granted, wanted)
    assert wanted == Privilege.parse("host-path:/b:rw:none")
