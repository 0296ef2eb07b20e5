"""Which nodes take the pods of a workload."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.expansion import Node
from poolsmith.guard.ledger.placement import placement_of

LABELS = {"gpu": "true", "count": "8", "empty": ""}


def takes(pod, *, kind="DaemonSet", labels=LABELS, taints=(), runtime_class=None):
    node = Node(name="n1", labels=labels, taints=taints)
    return placement_of(kind, pod, runtime_class).takes(node)


def affinity(*terms):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": required}}


def expression(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"gpu": "true"}, True),
        ({"gpu": "true", "count": "8"}, True),
        ({"gpu": "false"}, False),
        ({"gpu": ""}, False),
        ({"empty": ""}, True),
        ({"other": ""}, False),
        ({"gpu": "true", "other": "x"}, False),
    ],
)
def test_each_label_of_a_node_selector_has_to_be_there(selector, expected):
    assert takes({"nodeSelector": selector}) is expected


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (("gpu", "In", "false", "true"), True),
        (("gpu", "In", "false"), False),
        (("gpu", "In"), False),
        (("other", "In", "x"), False),
        (("empty", "In", ""), True),
        (("gpu", "NotIn", "true"), False),
        (("gpu", "NotIn", "false"), True),
        (("other", "NotIn", "x"), True),
        (("gpu", "Exists"), True),
        (("empty", "Exists"), True),
        (("other", "Exists"), False),
        (("gpu", "DoesNotExist"), False),
        (("other", "DoesNotExist"), True),
        (("count", "Gt", "7"), True),
        (("count", "Gt", "8"), False),
        (("count", "Lt", "10"), True),
        (("count", "Lt", "8"), False),
        (("count", "Gt", "-1"), True),
        (("count", "Gt", "7.5"), False),
        (("count", "Gt", "1", "2"), False),
        (("count", "Gt"), False),
        (("gpu", "Gt", "0"), False),
        (("other", "Lt", "1"), False),
    ],
)
def test_an_expression_holds_as_the_scheduler_has_it(requirement, expected):
    assert takes(affinity({"matchExpressions": [expression(*requirement)]})) is expected


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], False),
        ([{}], False),
        ([{"matchExpressions": []}], False),
        (
            [
                {"matchExpressions": [expression("other", "Exists")]},
                {"matchExpressions": [expression("gpu", "Exists")]},
            ],
            True,
        ),
        ([{"matchExpressions": [expression("other", "Exists"), expression("gpu", "Exists")]}], False),
        ([{"matchFields": [expression("metadata.name", "In", "n1")]}], True),
        ([{"matchFields": [expression("metadata.name", "NotIn", "n1")]}], False),
        (
            [
                {
                    "matchFields": [expression("metadata.name", "In", "n1")],
                    "matchExpressions": [expression("other", "Exists")],
                }
            ],
            False,
        ),
        ([{}, {"matchExpressions": [expression("gpu", "Exists")]}], True),
    ],
)
def test_terms_are_alternatives_and_an_empty_one_is_none(terms, expected):
    assert takes(affinity(*terms)) is expected


def test_selector_and_affinity_have_to_hold_both():
    term = {"matchExpressions": [expression("gpu", "Exists")]}

    assert takes({"nodeSelector": {"count": "8"}, **affinity(term)})
    assert not takes({"nodeSelector": {"count": "9"}, **affinity(term)})


def test_preferences_and_other_pods_keep_no_pod_away():
    pod = {
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "x"}]},
        }
    }

    assert takes(pod)


TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (None, False),
        ({"operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "nvidia.com/gpu", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "other"}, False),
        ({"key": "nvidia.com/gpu"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_a_taint_keeps_away_what_does_not_tolerate_it(toleration, expected):
    pod = {"tolerations": [toleration] if toleration else []}

    assert takes(pod, taints=(TAINT,)) is expected


def test_a_toleration_is_for_one_effect_or_for_all():
    for_one = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    drained = {**TAINT, "effect": "NoExecute"}

    assert not takes({"tolerations": [for_one]}, taints=(drained,))
    assert takes({"tolerations": [{**for_one, "effect": ""}]}, taints=(drained,))


def test_each_taint_has_to_be_tolerated_but_preferences():
    other = {"key": "other", "effect": "NoSchedule"}
    pod = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}

    assert not takes(pod, taints=(TAINT, other))
    assert takes(pod, taints=(TAINT, {**other, "effect": "PreferNoSchedule"}))


@pytest.mark.parametrize(
    ("key", "effect", "host_network", "expected"),
    [
        ("not-ready", "NoExecute", False, True),
        ("unreachable", "NoExecute", False, True),
        ("disk-pressure", "NoSchedule", False, True),
        ("memory-pressure", "NoSchedule", False, True),
        ("pid-pressure", "NoSchedule", False, True),
        ("unschedulable", "NoSchedule", False, True),
        ("network-unavailable", "NoSchedule", False, False),
        ("network-unavailable", "NoSchedule", True, True),
        ("not-ready", "NoSchedule", False, False),
        ("out-of-service", "NoExecute", False, False),
    ],
)
def test_pods_of_daemon_sets_tolerate_what_their_controller_adds(key, effect, host_network, expected):
    taint = {"key": f"node.kubernetes.io/{key}", "effect": effect}

    assert takes({"hostNetwork": host_network}, taints=(taint,)) is expected
    assert not takes({"hostNetwork": host_network}, kind="Deployment", taints=(taint,))


def test_a_node_name_leaves_out_the_scheduler():
    assert takes({"nodeName": "n1"}, taints=(TAINT,))
    assert not takes({"nodeName": "n2"})


def test_a_runtime_class_asks_for_labels_and_tolerates_taints():
    asking = {"scheduling": {"nodeSelector": {"kata": "true"}}}
    tolerating = {"scheduling": {"tolerations": [{"operator": "Exists"}]}}

    assert not takes({}, runtime_class=asking)
    assert takes({}, runtime_class=asking, labels={"kata": "true"})
    assert takes({}, runtime_class=tolerating, taints=(TAINT,))


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"kubernetes.io/os": "linux"}, True),
        ({"kubernetes.io/os": "windows"}, False),
        ({"kubernetes.io/arch": "arm64"}, True),
        ({"kubernetes.io/hostname": "n9"}, True),
    ],
)
def test_labels_of_the_kubelet_are_there_even_if_nobody_told_their_values(selector, expected):
    assert takes({"nodeSelector": selector}) is expected


def test_labels_of_the_kubelet_count_where_they_are_told():
    assert not takes({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, labels={"kubernetes.io/arch": "amd64"})


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({}, True),
        ({"nodeSelector": {"kubernetes.io/os": "linux"}}, True),
        ({"nodeSelector": {"kubernetes.io/arch": "amd64"}}, True),
        (affinity({"matchExpressions": [expression("kubernetes.io/os", "In", "linux")]}), True),
        ({"tolerations": [{"operator": "Exists"}]}, True),
        ({"nodeSelector": {"kubernetes.io/os": "windows"}}, False),
        ({"nodeSelector": {"kubernetes.io/hostname": "n1"}}, False),
        ({"nodeSelector": {"gpu": "true"}}, False),
        ({"nodeName": "n1"}, False),
        (affinity({"matchExpressions": [expression("gpu", "DoesNotExist")]}), False),
        (affinity({"matchFields": [expression("metadata.name", "In", "n1")]}), False),
        (affinity({}), False),
    ],
)
def test_what_ties_a_pod_to_nodes(pod, expected):
    assert placement_of("Deployment", pod).ties_to_nothing is expected
