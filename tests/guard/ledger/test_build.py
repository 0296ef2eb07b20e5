"""The ledger of objects on the nodes of pools."""

from __future__ import annotations

import time
from copy import deepcopy

import pytest

from poolsmith.fleet.operands.expansion import Node
from poolsmith.guard.ledger import installed_ledger
from poolsmith.guard.ledger.installed_ledger import PredictedMemory, TemplateMemory, ledger_of
from poolsmith.guard.ledger.ledger import Ledger

PRIVILEGED = {"name": "c", "securityContext": {"privileged": True}}


def workload(name, pod, *, kind="DaemonSet", namespace="gpu-operator"):
    metadata = {"name": name, "namespace": namespace}
    return {"kind": kind, "metadata": metadata, "spec": {"template": {"spec": {"containers": [PRIVILEGED], **pod}}}}


def node(name="n", taints=(), **labels):
    return Node(name=name, labels=labels, taints=taints)


def role(name, *verbs):
    rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": list(verbs)}
    return {"kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]}


def binding(name, *accounts):
    return {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "gpu-operator"} for account in accounts],
    }


POOLS = {
    "b": [node(driver="true")],
    "a": [node("n1", driver="true"), node("n2", driver="true", mig="true")],
    "c": [node(driver="false")],
}


def shown(ledger):
    return [f"{line.pool} {line.workload} {line.container} {line.privilege} {line.reach}" for line in ledger.lines]


def test_a_workload_stands_on_each_pool_that_has_a_node_for_it():
    objects = [
        workload("driver", {"nodeSelector": {"driver": "true"}}),
        workload("mig", {"nodeSelector": {"mig": "true"}}),
    ]

    assert shown(ledger_of(objects, POOLS)) == [
        "a DaemonSet/driver c privileged node-root",
        "a DaemonSet/mig c privileged node-root",
        "b DaemonSet/driver c privileged node-root",
    ]


def test_what_nothing_ties_to_nodes_stands_under_any_node():
    assert shown(ledger_of([workload("x", {}, kind="Deployment")], POOLS)) == ["* Deployment/x c privileged node-root"]


def test_what_no_known_node_takes_is_there_all_the_same():
    objects = [workload("x", {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}})]

    assert shown(ledger_of(objects, POOLS)) == ["- DaemonSet/x c privileged node-root"]
    assert shown(ledger_of(objects, {})) == ["- DaemonSet/x c privileged node-root"]


def test_a_tainted_pool_is_left_out_unless_the_taint_is_tolerated():
    pools = {"a": [node(taints=({"key": "k", "effect": "NoSchedule"},), gpu="1")], "b": [node(gpu="1")]}
    selecting = {"nodeSelector": {"gpu": "1"}}

    assert ledger_of([workload("x", selecting)], pools).pools == ("b",)
    assert ledger_of(
        [workload("x", {**selecting, "tolerations": [{"key": "k", "operator": "Exists"}]})], pools
    ).pools == (
        "a",
        "b",
    )


def test_nodes_that_differ_in_name_only_are_told_apart_where_a_workload_asks_for_names():
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}}
    pools = {"a": [node("n1"), node("n2")], "b": [node("n3")]}

    assert ledger_of([workload("x", {"affinity": {"nodeAffinity": required}})], pools).pools == ("a",)


def test_the_scheduling_of_a_runtime_class_counts():
    objects = [
        {"kind": "RuntimeClass", "metadata": {"name": "kata"}, "scheduling": {"nodeSelector": {"mig": "true"}}},
        workload("x", {"runtimeClassName": "kata"}, kind="Deployment"),
    ]

    assert ledger_of(objects, POOLS).pools == ("a",)


def test_the_rights_of_its_account_are_the_pod_s():
    objects = [
        workload("x", {"serviceAccountName": "sa", "nodeSelector": {"mig": "true"}, "hostPID": True}),
        role("r", "get", "patch"),
        binding("r", "sa"),
    ]

    assert shown(ledger_of(objects, POOLS)) == [
        "a DaemonSet/x  host-pid node-write",
        "a DaemonSet/x  rbac:core/nodes:get@cluster cluster-read",
        "a DaemonSet/x  rbac:core/nodes:patch@cluster cluster-write",
        "a DaemonSet/x c privileged node-root",
    ]


@pytest.mark.parametrize("pod", [{}, {"serviceAccount": "default"}, {"serviceAccountName": "default"}])
def test_a_pod_without_an_account_has_the_default_one(pod):
    objects = [workload("x", pod), role("r", "get"), binding("r", "default")]

    assert "* DaemonSet/x  rbac:core/nodes:get@cluster cluster-read" in shown(ledger_of(objects, POOLS))


def test_what_cannot_be_told_is_told_of_the_accounts_that_workloads_have():
    objects = [workload("x", {"serviceAccountName": "sa"}), binding("view", "sa"), binding("edit", "unused")]

    assert ledger_of(objects, POOLS).unknown == (
        "ServiceAccount/sa in gpu-operator: ClusterRoleBinding/view: ClusterRole/view is not among the objects",
    )


def test_the_same_name_in_two_namespaces_is_two_workloads():
    objects = [workload("x", {}, namespace=namespace) for namespace in ("b", "a")]

    assert [line.namespace for line in ledger_of(objects, POOLS).lines] == ["a", "b"]


def test_an_object_that_is_there_twice_is_one_workload_with_all_that_both_hold():
    ledger = ledger_of([workload("x", {}), workload("x", {"hostPID": True})], POOLS)

    assert shown(ledger) == ["* DaemonSet/x  host-pid node-write", "* DaemonSet/x c privileged node-root"]


def test_lines_are_in_the_order_of_a_ledger_whatever_order_the_objects_are_in():
    objects = [
        workload(
            name, {"serviceAccountName": "sa", "hostPID": True, "nodeSelector": {"driver": "true"}}, namespace=namespace
        )
        for name in ("y", "x")
        for namespace in ("b", "gpu-operator", "a")
    ] + [role("r", "patch", "get"), binding("r", "sa")]
    ledger = ledger_of(objects, POOLS)

    assert Ledger.of(ledger.lines, ledger.unknown) == ledger
    assert ledger_of(objects[::-1], dict(reversed(POOLS.items()))) == ledger


def test_other_objects_and_no_objects_hold_nothing():
    assert ledger_of([], POOLS) == Ledger()
    assert ledger_of([{"kind": "ConfigMap", "metadata": {"name": "x"}}, {}], POOLS) == Ledger()


def test_a_memory_gives_what_would_be_found_anew():
    objects = [workload("x", {"hostPID": True}), workload("y", {})]
    memory = TemplateMemory()

    assert ledger_of(objects, POOLS, memory=memory) == ledger_of(objects, POOLS)
    assert ledger_of(objects, POOLS, memory=memory) == ledger_of(objects, POOLS)
    assert ledger_of([workload("x", {})], POOLS, memory=memory) == ledger_of([workload("x", {})], POOLS)


def test_what_installations_have_in_common_is_found_once_and_what_they_have_not_is_found_for_each():
    account = {"serviceAccountName": "sa"}
    both = [workload("x", account), role("r", "get"), binding("r", "sa")]
    clusters = [
        both,
        deepcopy(both),
        [workload("x", {**account, "hostPID": True}), *both[1:]],
        [both[0], role("r", "get", "list"), both[2]],
        [both[0], both[1], binding("r", "other")],
        [both[0], role("r", "get", "list"), role("r", "watch"), both[2]],
        [both[0]],
    ]
    memory = PredictedMemory()

    for objects in (*clusters, *reversed(clusters)):
        assert ledger_of(deepcopy(objects), POOLS, memory=memory) == ledger_of(objects, POOLS)


def test_one_workload_of_several_installations_is_looked_at_once(monkeypatch):
    asked = []
    monkeypatch.setattr(installed_ledger, "pod_privileges", lambda template: asked.append(template) or ())
    memory = PredictedMemory()
    objects = [workload("x", {}), workload("y", {})]
    for _ in range(3):
        ledger_of(list(objects), POOLS, memory=memory)

    assert len(asked) == 2


def test_a_hundred_clusters_of_ten_pools_take_no_time():
    paths = [f"/run/nvidia/{number}" for number in range(12)]
    pod = {
        "serviceAccountName": "sa",
        "nodeSelector": {"driver": "true"},
        "volumes": [{"name": path, "hostPath": {"path": path}} for path in paths],
        "containers": [{**PRIVILEGED, "volumeMounts": [{"name": path, "mountPath": path} for path in paths]}],
    }
    objects = [workload(f"x{number}", pod) for number in range(10)] + [
        role("r", "get", "list", "watch"),
        binding("r", "sa"),
    ]
    clusters = [deepcopy(objects) for _ in range(100)]
    pools = {f"pool-{number}": [node(f"n{number}", driver="true", pool=str(number))] for number in range(10)}
    start = time.perf_counter()
    lines = sum(len(ledger_of(cluster, pools).lines) for cluster in clusters)

    assert lines == 100 * 10 * 10 * (12 + 1 + 3)
    assert time.perf_counter() - start < 2


def test_a_workload_that_holds_nothing_has_its_place_all_the_same():
    hardened = {"name": "main", "securityContext": {"allowPrivilegeEscalation": False}}
    item = workload("quiet", {"containers": [hardened], "nodeSelector": {"gpu": "yes"}})
    ledger = ledger_of([item], {"a": (node(gpu="yes"),), "b": (node(),)})

    assert ledger.lines == ()
    assert ledger.landing == {"gpu-operator/DaemonSet/quiet": ("a",)}
