"""What service accounts may do, from roles and bindings."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.workload_privileges import AccountRights

RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def role(name, *rules, kind="ClusterRole", namespace=None, labels=None, **more):
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "rules": list(rules),
        **more,
    }


def binding(role_name, *subjects, kind="ClusterRoleBinding", namespace=None, role_kind="ClusterRole"):
    return {
        "kind": kind,
        "metadata": {"name": "binding", "namespace": namespace},
        "roleRef": {"kind": role_kind, "name": role_name},
        "subjects": list(subjects) or [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}],
    }


def rights(*objects, account="sa", namespace="ns"):
    held, unknown = AccountRights(objects).of(namespace, account)
    return [str(token).removeprefix("rbac:") for token in held] + [f"? {item}" for item in unknown]


def of_rule(**rule):
    return rights(role("r", rule), binding("r"))


def test_a_cluster_role_bound_to_an_account_counts_for_the_cluster():
    assert rights(role("r", RULE), binding("r")) == ["core/pods:get@cluster"]


def test_a_cluster_role_bound_in_a_namespace_counts_there():
    assert rights(role("r", RULE), binding("r", kind="RoleBinding", namespace="other")) == ["core/pods:get@ns/other"]


def test_a_role_counts_in_its_namespace_only():
    here = role("r", RULE, kind="Role", namespace="ns")
    there = role("r", RULE, kind="Role", namespace="other")
    bound = binding("r", kind="RoleBinding", namespace="ns", role_kind="Role")

    assert rights(here, there, bound) == ["core/pods:get@ns/ns"]
    assert rights(there, bound) == ["? ServiceAccount/sa in ns: RoleBinding/binding: Role/r is not among the objects"]


def test_without_a_binding_or_for_another_account_there_are_none():
    assert rights(role("r", RULE)) == []
    assert rights(role("r", RULE), binding("r"), account="other") == []
    assert rights(role("r", RULE), binding("r"), namespace="other") == []


@pytest.mark.parametrize(
    "subject",
    [
        {"kind": "ServiceAccount", "name": "sa", "namespace": "ns"},
        {"kind": "User", "name": "system:serviceaccount:ns:sa"},
        {"kind": "Group", "name": "system:serviceaccounts"},
        {"kind": "Group", "name": "system:serviceaccounts:ns"},
        {"kind": "Group", "name": "system:authenticated"},
    ],
)
def test_an_account_is_meant_by_each_of_its_names(subject):
    assert rights(role("r", RULE), binding("r", subject)) == ["core/pods:get@cluster"]


@pytest.mark.parametrize(
    "subject",
    [
        {"kind": "Group", "name": "system:serviceaccounts:other"},
        {"kind": "Group", "name": "system:unauthenticated"},
        {"kind": "User", "name": "sa"},
        {"kind": "ServiceAccount", "name": "sa"},
        {},
    ],
)
def test_other_subjects_do_not_mean_it(subject):
    assert rights(role("r", RULE), binding("r", subject)) == []


def test_a_subject_without_a_namespace_is_in_that_of_its_binding():
    bound = binding("r", {"kind": "ServiceAccount", "name": "sa"}, kind="RoleBinding", namespace="ns")

    assert rights(role("r", RULE), bound) == ["core/pods:get@ns/ns"]


def test_objects_without_a_namespace_are_in_the_default_one():
    bound = binding("r", {"kind": "ServiceAccount", "name": "sa"}, kind="RoleBinding", role_kind="Role")

    assert rights(role("r", RULE, kind="Role"), bound, namespace="default") == ["core/pods:get@ns/default"]


def test_a_rule_is_all_its_combinations():
    rule = {"apiGroups": ["", "apps"], "resources": ["a", "b/c"], "verbs": ["get", "list"], "resourceNames": ["x", "y"]}

    found = of_rule(**rule)
    assert len(found) == 16
    assert found[0] == "apps/a:get@cluster#x"
    assert found[-1] == "core/b/c:list@cluster#y"


def test_stars_stay_stars():
    assert of_rule(apiGroups=["*"], resources=["*"], verbs=["*"]) == ["*/*:*@cluster"]
    assert of_rule(apiGroups=[""], resources=["*/status"], verbs=["*"]) == ["core/*/status:*@cluster"]


@pytest.mark.parametrize("names", [[], None, [""], ["", "x"]])
def test_no_name_and_the_empty_name_restrict_nothing(names):
    assert of_rule(apiGroups=[""], resources=["pods"], verbs=["list"], resourceNames=names) == [
        "core/pods:list@cluster"
    ]


def test_names_are_encoded():
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["system:x%3A"]}

    assert of_rule(**rule) == ["core/configmaps:get@cluster#system%3Ax%253A"]


def test_paths_that_are_no_resources_count_where_the_binding_is_for_the_cluster():
    paths = {"nonResourceURLs": ["/metrics", "/healthz/*", "*"], "verbs": ["get"]}

    assert rights(role("r", paths), binding("r")) == [
        "nonResourceURLs/*:get@cluster",
        "nonResourceURLs/healthz/*:get@cluster",
        "nonResourceURLs/metrics:get@cluster",
    ]
    assert rights(role("r", paths), binding("r", kind="RoleBinding", namespace="ns")) == []


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"]},
        {"apiGroups": "", "resources": "pods", "verbs": "get"},
        {"apiGroups": [None], "resources": [1], "verbs": [{}]},
    ],
)
def test_a_rule_that_lacks_a_part_gives_nothing(rule):
    assert of_rule(**rule) == []


def test_an_aggregated_role_has_the_rules_of_all_that_it_selects_and_so_on():
    selectors = {
        "clusterRoleSelectors": [
            {"matchLabels": {"to": "a"}},
            {"matchExpressions": [{"key": "b", "operator": "Exists"}]},
        ]
    }
    further = {"clusterRoleSelectors": [{"matchLabels": {"to": "c"}}]}
    objects = (
        role("whole", aggregationRule=selectors),
        role("one", {**RULE, "verbs": ["list"]}, labels={"to": "a"}),
        role("two", {**RULE, "verbs": ["watch"]}, labels={"b": ""}, aggregationRule=further),
        role("three", {**RULE, "verbs": ["create"]}, labels={"to": "c"}),
        role("four", {**RULE, "verbs": ["delete"]}, labels={"to": "d"}),
        binding("whole"),
    )

    assert rights(*objects) == [f"core/pods:{verb}@cluster" for verb in ("create", "list", "watch")]


def test_roles_that_select_each_other_come_to_an_end():
    selectors = {"clusterRoleSelectors": [{"matchLabels": {"to": "a"}}]}
    objects = [role(name, RULE, labels={"to": "a"}, aggregationRule=selectors) for name in "xy"]

    assert rights(*objects, binding("x")) == ["core/pods:get@cluster"]


def test_cluster_admin_is_known_without_its_role():
    assert rights(binding("cluster-admin")) == ["*/*:*@cluster", "nonResourceURLs/*:*@cluster"]
    assert rights(binding("cluster-admin", kind="RoleBinding", namespace="ns")) == ["*/*:*@ns/ns"]


def test_another_role_that_is_not_there_is_unknown():
    assert rights(binding("view")) == [
        "? ServiceAccount/sa in ns: ClusterRoleBinding/binding: ClusterRole/view is not among the objects"
    ]


def test_a_rule_with_too_many_combinations_is_unknown_and_takes_no_time():
    many = [f"x{number}" for number in range(2_000)]

    assert of_rule(apiGroups=many, resources=many, verbs=many) == [
        (
            "? ServiceAccount/sa in ns: ClusterRoleBinding/binding: "
            "a rule of ClusterRole/r allows 8000000000 combinations, more than are listed"
        )
    ]


def test_a_cluster_binding_to_a_role_of_a_namespace_gives_nothing_as_the_api_takes_none():
    assert rights(role("r", RULE, kind="Role", namespace="ns"), binding("r", role_kind="Role")) == []
