"""What is decided without an engine: resources of kinds, matches that hang on something unknown, parameters."""

from __future__ import annotations

import pytest
import yaml

from poolsmith.kubernetes.admission.matching import Answer, ParamsError, collect_params, matches
from poolsmith.kubernetes.admission.policy import Binding, MatchResources, ParamKind, ParamRef, Policy, ResourceRule
from poolsmith.kubernetes.admission.request import make_request
from poolsmith.kubernetes.admission.resources import Resources, plural_of
from poolsmith.kubernetes.admission.selector import selects
from poolsmith.kubernetes.objects_file import placed_objects

RESOURCES = Resources("1.34")
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def rule(**parts):
    return ResourceRule(
        **{"operations": ("*",), "api_groups": ("*",), "api_versions": ("*",), "resources": ("*",)} | parts
    )


def answer(criteria, body, resources=RESOURCES, **flags):
    return matches(criteria, make_request(body, resources, **flags), resources)


@pytest.mark.parametrize(
    ("api_version", "kind", "plural", "namespaced"),
    [
        ("v1", "Pod", "pods", True),
        ("v1", "Endpoints", "endpoints", True),
        ("v1", "Namespace", "namespaces", False),
        ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True),
        ("networking.k8s.io/v1", "Ingress", "ingresses", True),
        ("storage.k8s.io/v1", "StorageClass", "storageclasses", False),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
        ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", True),
        ("nvidia.com/v1", "ClusterPolicy", "clusterpolicies", False),
        ("nvidia.com/v1alpha1", "NVIDIADriver", "nvidiadrivers", False),
    ],
)
def test_known_kinds_have_their_resource(api_version, kind, plural, namespaced):
    found = RESOURCES.of(api_version, kind)

    assert (found.plural, found.namespaced, found.guessed) == (plural, namespaced, False)


def test_kinds_of_subresources_name_them():
    found = RESOURCES.of("policy/v1", "Eviction")

    assert (found.plural, found.subresource, found.group) == ("pods", "eviction", "")


def test_other_kinds_come_from_their_definition():
    definition = {
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"kind": "Mouse", "plural": "mice"},
            "versions": [{"name": "v1"}, {"name": "v2"}, {"name": "v0", "served": False}],
        }
    }

    resources = Resources("1.34", [definition])
    found = resources.of("example.com/v2", "Mouse")

    assert (found.plural, found.namespaced, found.guessed) == ("mice", False, False)
    assert resources.other_versions(found) == {"v1"}


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Widget", "widgets"), ("Policy", "policies"), ("Gateway", "gateways"), ("Box", "boxes"), ("Class", "classes")],
)
def test_the_usual_plural(kind, plural):
    assert plural_of(kind) == plural


def test_a_kind_that_nobody_knows_is_guessed_and_what_looks_like_it_is_undecided():
    mouse = {"apiVersion": "example.com/v1", "kind": "Octopus", "metadata": {"name": "a", "namespace": "x"}}

    assert answer(MatchResources(rules=(rule(resources=("octopuses",)),)), mouse).answer is Answer.YES
    assert answer(MatchResources(rules=(rule(resources=("octopi",)),)), mouse).answer is Answer.UNDECIDED
    assert answer(MatchResources(rules=(rule(resources=("pods",)),)), mouse).answer is Answer.NO


def test_a_conversion_between_versions_is_undecided_and_exact_is_not():
    scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}}
    rules = (rule(api_groups=("autoscaling",), api_versions=("v1",), resources=("horizontalpodautoscalers",)),)

    found = answer(MatchResources(rules=rules), scaler)

    assert found.answer is Answer.UNDECIDED
    assert "autoscaling/v2 HorizontalPodAutoscaler would be converted to v1" in found.why
    assert answer(MatchResources(rules=rules, equivalent=False), scaler).answer is Answer.NO


def test_a_version_that_is_not_served_is_no_other_version():
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}

    assert answer(MatchResources(rules=(rule(api_versions=("v1beta1",)),)), deployment).answer is Answer.NO


def test_labels_of_an_unknown_namespace_are_undecided():
    wants = MatchResources(namespace_selector={"matchLabels": {"env": "prod"}})

    assert answer(wants, POD).answer is Answer.UNDECIDED
    assert answer(wants, POD, namespaces=lambda name: NAMESPACE).answer is Answer.NO
    assert answer(MatchResources(namespace_selector={}), POD).answer is Answer.YES


def test_the_name_of_a_namespace_is_known_always():
    excluding = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["shop"]}]}
    naming = {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}

    assert answer(MatchResources(namespace_selector=excluding), POD).answer is Answer.NO
    assert answer(MatchResources(namespace_selector=naming), POD).answer is Answer.YES
    assert (
        answer(MatchResources(namespace_selector=naming), POD, namespaces=lambda name: NAMESPACE).answer is Answer.YES
    )


def test_a_no_wins_over_what_is_undecided():
    criteria = MatchResources(
        rules=(rule(resources=("services",)),), namespace_selector={"matchLabels": {"env": "prod"}}
    )

    assert answer(criteria, POD).answer is Answer.NO


def test_an_object_selector_is_undecided_while_the_old_object_is_not_known():
    criteria = MatchResources(object_selector={"matchLabels": {"app": "web"}})

    assert answer(criteria, POD, operation="UPDATE").answer is Answer.UNDECIDED
    assert answer(criteria, POD, operation="UPDATE", old=POD).answer is Answer.NO


def test_policies_are_never_asked_about_policies():
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "a"},
    }

    assert answer(MatchResources(rules=(rule(),)), body).answer is Answer.NO


def test_events_of_both_groups_are_the_same():
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}}
    rules = (rule(api_groups=("events.k8s.io",), api_versions=("v1",), resources=("events",)),)

    assert answer(MatchResources(rules=rules), event).answer is Answer.UNDECIDED


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("In", ["a"], (True, False)),
        ("NotIn", ["a"], (False, True)),
        ("Exists", [], (True, False)),
        ("DoesNotExist", [], (False, True)),
    ],
)
def test_operators_of_selectors(operator, values, expected):
    selector = {"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}

    assert (selects(selector, {"k": "a"}), selects(selector, {})) == expected
    assert selects(selector, {}, complete=False) is None


# parameters

CONFIG_MAPS = ParamKind("v1", "ConfigMap")
CLUSTER_KIND = ParamKind("example.com/v1", "Limit")


def params(reference, objects, kind=CONFIG_MAPS, body=POD, **flags):
    placed = placed_objects("a.yaml", "---\n".join(map(yaml.safe_dump, objects))) if objects else ()
    policy = Policy(name="p", placed=None, match=MatchResources(), param_kind=kind)
    binding = Binding(name="b", policy="p", param_ref=reference, placed=object())
    found = collect_params(policy, binding, make_request(body, RESOURCES, **flags), placed, RESOURCES)
    return [item.name if item is not None else None for item in found]


def config(name, namespace="shop", **labels):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    }


def test_without_a_param_kind_there_are_no_params():
    assert params(ParamRef(name="a"), [config("a")], kind=None) == [None]


def test_without_a_param_ref_params_are_null():
    assert params(None, [config("a")]) == [None]


def test_by_name_in_the_namespace_of_the_object():
    objects = [config("a", "other"), config("a"), config("b")]

    assert params(ParamRef(name="a"), objects) == ["a"]
    assert params(ParamRef(name="b", namespace="shop"), objects) == ["b"]
    with pytest.raises(ParamsError, match="no params found"):
        params(ParamRef(name="b", namespace="other"), objects)


def test_by_selector_each_that_fits_is_one_evaluation():
    objects = [config("b", env="prod"), config("a", env="prod"), config("c"), config("d", "other", env="prod")]

    assert params(ParamRef(selector={"matchLabels": {"env": "prod"}}), objects) == ["a", "b"]
    assert params(ParamRef(selector={}), objects) == ["a", "b", "c"]


def test_none_found_is_allowed_or_denied_as_the_binding_says():
    assert params(ParamRef(name="x", deny_when_missing=False), []) == []
    with pytest.raises(ParamsError, match="no params found for policy binding with `Deny` parameterNotFoundAction"):
        params(ParamRef(name="x"), [])


def test_a_namespaced_parameter_of_a_cluster_wide_object_needs_a_namespace():
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}}

    with pytest.raises(ParamsError, match="cannot use namespaced paramRef"):
        params(ParamRef(name="a"), [config("a")], body=role)
    assert params(ParamRef(name="a", namespace="shop"), [config("a")], body=role) == ["a"]


def test_a_cluster_wide_parameter_takes_no_namespace():
    definition = {"spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": "Limit", "plural": "limits"}}}
    resources = Resources("1.34", [definition])
    policy = Policy(name="p", placed=None, match=MatchResources(), param_kind=CLUSTER_KIND)
    binding = Binding(name="b", policy="p", param_ref=ParamRef(name="a", namespace="x"), placed=object())

    with pytest.raises(ParamsError, match="must not be provided for a cluster-scoped"):
        collect_params(policy, binding, make_request(POD, resources), (), resources)


def test_a_parameter_that_names_no_namespace_lies_where_it_is_looked_for():
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}

    assert params(ParamRef(name="a"), [body]) == ["a"]
