"""Objects that no API server would take, and texts made to be misread: nothing fails, nothing slips past."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.pod_template import WORKLOAD_KINDS
from poolsmith.fleet.operands.expansion import Node
from poolsmith.guard.ledger.installed_ledger import ledger_of
from poolsmith.guard.ledger.privilege import Privilege

NAMES = (
    "metadata spec template jobTemplate containers initContainers ephemeralContainers volumes volumeMounts hostPath path "
    "name namespace securityContext privileged runAsUser runAsNonRoot capabilities add seccompProfile appArmorProfile "
    "seLinuxOptions type procMount windowsOptions hostProcess sysctls ports hostPort hostPID hostIPC hostNetwork subPath "
    "subPathExpr mountPropagation readOnly nodeSelector affinity nodeAffinity tolerations key operator values value effect "
    "requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms matchExpressions matchFields nodeName "
    "serviceAccountName runtimeClassName scheduling annotations labels rules apiGroups resources verbs resourceNames "
    "nonResourceURLs roleRef subjects kind aggregationRule clusterRoleSelectors matchLabels"
)
FIELDS = NAMES.split()
KINDS = (*WORKLOAD_KINDS, "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "RuntimeClass")
WORDS = ("", "v", "c", "..", "/", "CAP_", "Unconfined", "Exists", "In", "Gt", "*", "a:b%", "x" * 300, "\ud800", "\n")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=40,
)
OBJECTS = st.lists(
    st.builds(
        lambda kind, item: {**item, "kind": kind},
        st.sampled_from(KINDS),
        st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=5),
    ),
    max_size=4,
)
POOLS = {"a": [Node(name="v", labels={"v": "c"}, taints=({"key": "v", "effect": "NoSchedule"},))]}


@given(OBJECTS)
def test_no_object_is_too_broken_to_be_read(objects):
    ledger = ledger_of(objects, POOLS)

    for line in ledger.lines:
        assert Privilege.parse(str(line.privilege)) == line.privilege


def of_container(container, **pod):
    spec = {"containers": [{"name": "c", **container}], **pod}
    ledger = ledger_of([{"kind": "Pod", "metadata": {"name": "x"}, "spec": spec}], {})
    return [str(line.privilege) for line in ledger.lines if line.privilege.name != "allow-escalation"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/run:rw:bidirectional", "host-path:/run%3Arw%3Abidirectional:ro:none"),
        ("/run%3Arw", "host-path:/run%253Arw:ro:none"),
        ("/a/..//../", "host-path:/:ro:none"),
        ("/a/./../../b/..", "host-path:/:ro:none"),
        ("/\n", "host-path:/\n:ro:none"),
        ("/" + "a" * 100_000, "host-path:/" + "a" * 100_000 + ":ro:none"),
    ],
)
def test_no_path_can_be_taken_for_another_privilege(path, expected):
    mount = {"volumeMounts": [{"name": "v", "readOnly": True}]}

    assert of_container(mount, volumes=[{"name": "v", "hostPath": {"path": path}}]) == [expected]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"capabilities": {"add": ["SYS_ADMIN:x"]}}, ["capability:SYS_ADMIN%3AX"]),
        ({"capabilities": {"add": ["", "CAP_", None, 1]}}, []),
        ({"seLinuxOptions": {"type": "a:b"}}, ["selinux:a%3Ab"]),
        ({"seLinuxOptions": {"type": ""}}, []),
        ({"seLinuxOptions": {"type": "nonResourceURLs"}}, ["selinux:nonResourceURLs"]),
        ({"runAsUser": False}, []),
        ({"runAsUser": "0"}, []),
        ({"privileged": "true"}, []),
        ({"privileged": 1}, []),
    ],
)
def test_values_that_the_api_server_refuses_are_absent_or_themselves(context, expected):
    assert of_container({"securityContext": context}) == expected


@pytest.mark.parametrize("number", [0, -1, 65536, 10**30, True, "80", None, 80.0])
def test_a_port_that_is_none_is_none(number):
    assert of_container({"ports": [{"hostPort": number}]}) == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"apiGroups": ["a/b"], "resources": ["c"], "verbs": ["get"]}, "rbac:a%2Fb/c:get@cluster"),
        ({"apiGroups": ["a:b%"], "resources": ["c"], "verbs": ["get"]}, "rbac:a%3Ab%25/c:get@cluster"),
        ({"apiGroups": [""], "resources": ["c"], "verbs": ["get@ns/x#y"]}, "rbac:core/c:get%40ns/x#y@cluster"),
        ({"apiGroups": [""], "resources": ["a/b/c"], "verbs": ["get"]}, "rbac:core/a/b/c:get@cluster"),
        (
            {"apiGroups": [""], "resources": ["c"], "verbs": ["get"], "resourceNames": ["#@:/%"]},
            "rbac:core/c:get@cluster##@%3A/%25",
        ),
        ({"nonResourceURLs": ["//a"], "verbs": ["get"]}, "rbac:nonResourceURLs//a:get@cluster"),
        (
            {"apiGroups": ["nonResourceURLs"], "resources": ["a"], "verbs": ["get"]},
            "rbac:nonResourceURLs/a:get@cluster",
        ),
    ],
)
def test_no_name_in_a_rule_can_be_taken_for_another_right(rule, expected):
    objects = [
        {"kind": "Pod", "metadata": {"name": "x"}, "spec": {}},
        {"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [rule]},
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "b"},
            "roleRef": {"kind": "ClusterRole", "name": "r"},
            "subjects": [{"kind": "Group", "name": "system:authenticated"}],
        },
    ]
    (line,) = ledger_of(objects, {}).lines

    assert str(line.privilege) == expected
    assert Privilege.parse(expected) == line.privilege


def test_a_path_of_many_parts_takes_no_time():
    start = time.perf_counter()
    of_container({"volumeMounts": [{"name": "v"}]}, volumes=[{"name": "v", "hostPath": {"path": "/a/../b" * 100_000}}])

    assert time.perf_counter() - start < 2
