"""The words in which entries of charts are written."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.chart_objects import unfold, unfold_pod
from poolsmith.fleet.operands.chart.fill import NOTHING, ValueScope, fill
from poolsmith.kubernetes.helm.go_template import TemplateError

VALUES = {
    "text": "a",
    "empty": "",
    "number": 5,
    "off": False,
    "on": True,
    "list": ["x", "y"],
    "map": {"k": "v"},
    "inner": {"none": None, "name": "deep"},
}
SCOPE = ValueScope(
    values=VALUES, variables={"version": "1.2"}, define={"both": "${text}-${@version}", "gone": "${empty}"}
)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("plain", "plain"),
        (7, 7),
        ("${number}", 5),
        ("${map yaml}", {"k": "v"}),
        ("${text quote}", "a"),
        ("${number quote}", "5"),
        ('"${number}"', "5"),
        ('"${text}:${number}"', "a:5"),
        ("n${number}", "n5"),
        ("${inner.name}/${@version}", "deep/1.2"),
        ("${@both}", "a-1.2"),
        ("${empty|text}", "a"),
        ("${empty|'b'}", "b"),
        ("${missing|empty|@version quote}", "1.2"),
        ("${missing|empty|@version}", 1.2),
        ("${off!}", False),
        ({"a": "${off}", "b": "${@gone}", "c": "${inner.none!}"}, {}),
        ({"${text}": 1}, {"a": 1}),
        (["${text}", "${empty}"], ["a"]),
        ([{"$items": "${list yaml}"}, "z"], ["x", "y", "z"]),
        ([{"$items": "${empty yaml}"}, {"$when": ["off"], "$items": ["z"]}], []),
        ({"$each": "list", "$as": {"name": "${@item}"}}, [{"name": "x"}, {"name": True}]),
        ({"$merge": [{"a": 1}, "${map yaml}", "${empty yaml}"]}, {"a": 1, "k": "v"}),
        ("${map json}", '{"k": "v"}'),
        ("${list join}", "x,y"),
        ("--l=${text join}", "--l=a"),
    ],
)
def test_a_node_becomes_what_values_make_of_it(node, expected):
    assert fill(node, SCOPE) == expected


@pytest.mark.parametrize(
    ("terms", "holds"),
    [
        (["on"], True),
        (["off"], False),
        (["!off"], True),
        (["empty|on"], True),
        (["!empty|on"], False),
        (["on", "empty"], False),
        (["text = a"], True),
        (["text != a"], False),
        (["list contains x"], True),
        (["text contains b"], False),
        (["number contains 5"], False),
        (["on is bool"], True),
        (["text is bool"], False),
        (["text is string"], True),
        (["inner.none is set"], False),
        (["@version = 1.2"], True),
    ],
)
def test_a_condition_holds_when_all_its_terms_do(terms, holds):
    assert fill({"$when": terms, "$then": "yes", "$else": "no"}, SCOPE) == ("yes" if holds else "no")
    assert (fill({"$when": terms, "$then": "yes"}, SCOPE) is not NOTHING) is holds


@pytest.mark.parametrize(
    "node",
    [
        "${text.more}",
        "${inner.none.more}",
        [{"$items": "${map yaml}"}],
        {"$each": "text", "$as": {}},
        {"$merge": ["${text}"]},
    ],
)
def test_what_a_template_cannot_take_stops_it(node):
    with pytest.raises(TemplateError):
        fill(node, SCOPE)


def test_values_are_not_shared_with_what_is_made_of_them():
    made = fill({"a": "${map yaml}"}, SCOPE)
    made["a"]["k"] = "changed"

    assert VALUES["map"] == {"k": "v"}


@pytest.mark.parametrize(("kind", "api"), [("DaemonSet", "apps/v1"), ("Deployment", "apps/v1"), ("Job", "batch/v1")])
def test_a_workload_has_its_api_and_a_job_no_selector(kind, api):
    form = {"kind": kind, "name": "a", "selector": {"app": "a"}, "pod": {}, "containers": [{"name": "c"}]}
    made = unfold({**form, "spec": {"paused": True}}, "ns")

    assert (made["apiVersion"], made["kind"]) == (api, kind)
    assert ("selector" in made["spec"]) is (kind != "Job")
    assert made["spec"]["paused"] is True
    assert made["spec"]["template"]["spec"] == {"containers": [{"name": "c"}]}


def test_what_values_bring_follows_what_the_chart_has():
    made = unfold(
        {
            "kind": "DaemonSet",
            "name": "a",
            "pod": {},
            "volumes": {"own": "/own"},
            "extraVolumes": [{"name": "more", "emptyDir": {}}],
            "extraInit": [{"name": "first", "env": [{"name": "K", "value": "v"}]}],
            "containers": [
                {
                    "name": "c",
                    "env": [["A", True]],
                    "extraEnv": [{"name": "B", "value": "b"}],
                    "mounts": ["own:/own:ro"],
                    "extraMounts": [{"name": "more", "mountPath": "/more"}],
                }
            ],
        },
        "ns",
    )

    pod = made["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == ["own", "more"]
    assert pod["initContainers"] == [{"name": "first", "env": [{"name": "K", "value": "v"}]}]
    assert pod["containers"][0]["env"] == [{"name": "A", "value": "true"}, {"name": "B", "value": "b"}]
    assert [mount["name"] for mount in pod["containers"][0]["volumeMounts"]] == ["own", "more"]


def test_an_object_can_name_its_own_namespace():
    made = unfold({"kind": "ConfigMap", "name": "a", "namespace": "other", "data": {"k": "v"}}, "ns")

    assert made["metadata"] == {"name": "a", "namespace": "other"}
    assert made["data"] == {"k": "v"}


def test_a_pod_keeps_its_owners():
    owner = {"kind": "ClusterPolicy", "name": "cluster-policy"}
    made = unfold_pod({"name": "a", "ownerReferences": [owner], "pod": {}, "containers": [{"name": "c"}]}, "ns")

    assert made == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "ns", "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "c"}]},
    }
