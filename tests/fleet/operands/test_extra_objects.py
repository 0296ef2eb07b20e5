"""`extraObjects` of the operator's chart: objects like all others, or not shown, or refused."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

POD = {"containers": [{"name": "a", "securityContext": {"privileged": True}}]}
AGENT = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent"},
    "spec": {"template": {"spec": POD}},
}
TEXT = """apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "x-{{ .Release.Name }}"}
"""


def rendered(items, release="v26.7.0"):
    values = {"extraObjects": items, "nfd": {"enabled": False}}
    return operator_chart_objects(
        release, merge_over_defaults(read_chart("gpu-operator", release).defaults, values), "gpus", "gpu-operator"
    )


def names(items, release="v26.7.0"):
    found = rendered(items, release)
    assert (found.unknown, found.errors) == ((), ())
    return {(item["kind"], item["metadata"]["name"]) for item in (*found.objects, *found.hooks)}


@pytest.mark.parametrize("release", ["v26.3.3", "v26.7.0"])
@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ([AGENT], {("DaemonSet", "agent")}),
        ({"a": AGENT}, {("DaemonSet", "agent")}),
        ([{"apiVersion": "v1", "kind": "List", "items": [AGENT]}], {("DaemonSet", "agent")}),
        ([TEXT], {("ClusterRoleBinding", "all"), ("ConfigMap", "x-gpu-operator")}),
    ],
)
def test_they_are_objects_of_the_release(items, wanted, release):
    assert names(items, release) - names([], release) == wanted


def test_one_without_a_namespace_goes_to_that_of_the_release_unless_its_kind_has_none():
    placed = {item["metadata"]["name"]: item["metadata"].get("namespace") for item in rendered([AGENT, TEXT]).objects}

    assert (placed["agent"], placed["all"]) == ("gpus", None)


def test_one_with_a_hook_is_a_hook():
    hooked = {**AGENT, "metadata": {"name": "agent", "annotations": {"helm.sh/hook": "pre-install"}}}

    assert ("DaemonSet", "agent") in {(item["kind"], item["metadata"]["name"]) for item in rendered([hooked]).hooks}


@pytest.mark.parametrize("name", ["{{ lookup }}", "{{- .Release.Name }}", "{{ .Values.operator.image | upper }}"])
def test_what_the_template_engine_would_do_is_not_shown(name):
    found = rendered([{**AGENT, "metadata": {"name": name}}])

    assert [text for text in found.unknown if text.startswith("extraObjects.0: ")]


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("argoproj.io/v1alpha1", "Application"),
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("kyverno.io/v1", "ClusterPolicy"),
    ],
)
def test_a_kind_that_makes_others_do_things_is_not_evaluated(api, kind):
    found = rendered([{"apiVersion": api, "kind": kind, "metadata": {"name": "x"}}])

    assert found.unknown == (f"extraObjects.0: what the {kind} x makes others do",)


@pytest.mark.parametrize(
    "items",
    [
        "text",
        3,
        ["text"],
        [["a"]],
        [{"kind": "ConfigMap"}],
        [{**AGENT, "metadata": {"generateName": "x"}}],
        [{**AGENT, "spec": {"template": {"spec": {"containers": "x"}}}}],
        [{**AGENT, "spec": {"template": {"spec": {**POD, "volumes": [{"name": "v", "hostPath": "/"}]}}}}],
        ["a: b: c"],
    ],
    ids=str,
)
def test_what_is_no_object_is_an_error_at_its_place(items):
    (error,) = rendered(items).errors

    assert error.path.startswith("extraObjects")


def test_two_of_a_variable_of_the_operator_the_last_one_counts():
    from poolsmith.fleet.operands.operand_containers import operator_variable

    variables = [{"name": "DRIVER_MANAGER_IMAGE", "value": "evil/manager:1"}]
    values = merge_over_defaults(read_chart("gpu-operator", "v26.7.0").defaults, {"operator": {"env": variables}})
    found = operator_chart_objects("v26.7.0", values, "gpus")
    deployment = next(item for item in found.objects if item["kind"] == "Deployment")

    assert operator_variable(deployment, "DRIVER_MANAGER_IMAGE") == "evil/manager:1"


def test_a_variable_that_the_operator_obeys_is_not_evaluated():
    variables = [{"name": "OPERATOR_NAMESPACE", "value": "x"}, {"name": "HTTPS_PROXY", "value": "http://proxy"}]
    values = merge_over_defaults(read_chart("gpu-operator", "v26.7.0").defaults, {"operator": {"env": variables}})

    (unknown,) = operator_chart_objects("v26.7.0", values, "gpus").unknown
    assert "OPERATOR_NAMESPACE" in unknown
