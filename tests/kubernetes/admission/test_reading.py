"""What the API server would refuse of policies and bindings, each at its line."""

from __future__ import annotations

import copy
import textwrap

import pytest
import yaml

from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.objects_file import placed_objects

POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "p"},
    "spec": {
        "failurePolicy": "Fail",
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {
            "resourceRules": [
                {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
            ]
        },
        "matchConditions": [{"name": "c", "expression": "true"}],
        "variables": [{"name": "v", "expression": "1"}],
        "validations": [{"expression": "true", "message": "no", "reason": "Forbidden"}],
        "auditAnnotations": [{"key": "k", "valueExpression": "'x'"}],
    },
}
BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "b"},
    "spec": {
        "policyName": "p",
        "validationActions": ["Deny", "Audit"],
        "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"},
        "matchResources": {"namespaceSelector": {"matchLabels": {"env": "prod"}}},
    },
}


def found_in(*bodies, kubernetes="1.34"):
    text = "---\n".join(yaml.safe_dump(body, sort_keys=False) for body in bodies)
    return read_policies(placed_objects("policies/admission/a.yaml", text), kubernetes)


def problems(body):
    return [(item.code, item.primary.pointer, item.message) for item in found_in(body)[1]]


def with_value(body, path, value):
    changed = copy.deepcopy(body)
    node = changed
    *steps, last = path.split("/")[1:]
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    key = int(last) if isinstance(node, list) else last
    if value is None:
        del node[key]
    else:
        node[key] = value
    return changed


def test_sound_objects_are_read():
    policies, problems_found = found_in(
        POLICY, BINDING, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits"}}
    )

    assert problems_found == ()
    assert [item.name for item in policies.policies] == ["p"]
    assert [item.name for item in policies.bindings_of("p")] == ["b"]
    assert [item.shown for item in policies.objects] == ["ConfigMap/limits"]
    assert policies.broken == ()


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_each_version_of_the_api_is_read(version):
    policies, found = found_in(POLICY | {"apiVersion": f"admissionregistration.k8s.io/{version}"}, kubernetes="1.30")

    assert (len(policies.policies), found) == (1, ())


REFUSED_POLICIES = [
    ("/spec/failurePolicy", "Maybe", "`Maybe` is not supported in `failurePolicy`"),
    ("/spec/failurePolcy", "Fail", "is unknown"),
    ("/spec/matchConstraints", None, "is missing"),
    ("/spec/matchConstraints/resourceRules", [], "has to have an entry"),
    ("/spec/matchConstraints/matchPolicy", "Loose", "not supported in `matchPolicy`"),
    ("/spec/matchConstraints/resourceRules/0/operations", ["CREATE", "*"], "it must be the only entry"),
    ("/spec/matchConstraints/resourceRules/0/operations/0", "PATCH", "`PATCH` is no operation"),
    ("/spec/matchConstraints/resourceRules/0/apiGroups", [], "has to have an entry"),
    ("/spec/matchConstraints/resourceRules/0/apiVersions", ["*", "v1"], "it must be the only entry"),
    ("/spec/matchConstraints/resourceRules/0/resources", ["*/*", "pods"], "it must be the only entry"),
    ("/spec/matchConstraints/resourceRules/0/resources", ["*", "pods"], "no other resource"),
    ("/spec/matchConstraints/resourceRules/0/resourceNames", ["a", "a"], "twice"),
    ("/spec/matchConstraints/resourceRules/0/scope", "Namespace", "not supported in `scope`"),
    ("/spec/matchConstraints/namespaceSelector/matchExpressions", [{"key": "a", "operator": "Is"}], "`Is`"),
    ("/spec/matchConstraints/objectSelector/matchExpressions", [{"key": "a", "operator": "In"}], "`values`"),
    ("/spec/paramKind/kind", None, "`spec.paramKind.kind` is missing"),
    ("/spec/paramKind/apiVersion", "a/b/c", "no group and version"),
    ("/spec/validations/0/expression", " ", "has no `expression`"),
    ("/spec/validations/0/expression", 1, "it has to be a string"),
    ("/spec/validations/0/message", "one\ntwo", "more than one line"),
    ("/spec/validations/0/message", "  ", "is blank"),
    ("/spec/validations/0/messageExpression", " ", "is empty"),
    ("/spec/validations/0/reason", "Nope", "not supported in `reason`"),
    ("/spec/matchConditions/0/name", "a b", "can't be a name"),
    ("/spec/variables/0/name", "a-b", "can't be the name of a variable"),
    ("/spec/variables/0/name", "package", "can't be the name of a variable"),
    ("/spec/auditAnnotations/0/valueExpression", "'" + "x" * 5200 + "'", "more than 5,120 bytes"),
    ("/metadata/name", "A_b", "can't be the name of an object"),
]


@pytest.mark.parametrize(("path", "value", "message"), REFUSED_POLICIES)
def test_a_policy_is_refused_at_its_field(path, value, message):
    found = problems(with_value(POLICY, path, value))

    assert found[0][0] == "PSM610"
    assert found[0][1] == path or (path.endswith("matchExpressions") and found[0][1].startswith(f"{path}/0"))
    assert message in found[0][2]
    assert found[0][2].startswith("ValidatingAdmissionPolicy/")


REFUSED_BINDINGS = [
    ("/spec/policyName", None, "lacks the required field `policyName`"),
    ("/spec/validationActions", None, "lacks the required field `validationActions`"),
    ("/spec/validationActions", ["Deny", "Warn"], "has Deny and Warn"),
    ("/spec/validationActions/1", "Deny", "repeats entry 0"),
    ("/spec/validationActions/0", "Log", "`Log`, which is not one of `Audit`, `Deny`, `Warn`"),
    ("/spec/paramRef", {"parameterNotFoundAction": "Deny"}, "neither `name` nor `selector`"),
    ("/spec/paramRef/selector", {}, "exclude each other"),
    ("/spec/paramRef/parameterNotFoundAction", None, "is missing"),
    ("/spec/paramRef/parameterNotFoundAction", "Fail", "not supported"),
]


@pytest.mark.parametrize(("path", "value", "message"), REFUSED_BINDINGS)
def test_a_binding_is_refused_at_its_field(path, value, message):
    found = problems(with_value(BINDING, path, value))

    assert {code for code, _, _ in found} == {"PSM610"}
    assert found[0][1] in (path, path.rpartition("/")[0])
    assert message in found[0][2]


@pytest.mark.parametrize(
    ("field", "limit", "entry"),
    [
        ("matchConditions", 64, lambda index: {"name": f"c{index}", "expression": "true"}),
        ("auditAnnotations", 20, lambda index: {"key": f"k{index}", "valueExpression": "'x'"}),
    ],
)
def test_there_may_be_so_many_and_no_more(field, limit, entry):
    assert problems(with_value(POLICY, f"/spec/{field}", [entry(index) for index in range(limit)])) == []

    (found,) = problems(with_value(POLICY, f"/spec/{field}", [entry(index) for index in range(limit + 1)]))

    assert found[1] == f"/spec/{field}"


@pytest.mark.parametrize("field", ["matchConditions", "variables", "auditAnnotations"])
def test_names_stand_once(field):
    entry = POLICY["spec"][field][0]

    found = problems(with_value(POLICY, f"/spec/{field}", [entry, entry]))

    assert "repeats entry 0" in found[0][2] or "stands twice" in found[0][2]


def test_an_expression_of_several_lines_needs_a_message():
    body = with_value(POLICY, "/spec/validations/0", {"expression": "true &&\n  false"})

    (found,) = problems(body)

    assert "needs a `message`" in found[2]


def test_a_policy_without_validations_needs_audit_annotations():
    annotated = with_value(POLICY, "/spec/validations", None)

    assert problems(annotated) == []
    assert problems(with_value(annotated, "/spec/auditAnnotations", None))[0][1] == "/spec/validations"


def test_two_policies_of_one_name_are_refused():
    _, found = found_in(POLICY, POLICY)

    assert "another ValidatingAdmissionPolicy has this name" in found[0].message


@pytest.mark.parametrize("kind", ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"])
def test_mutating_policies_are_refused_with_a_clear_word(kind):
    policies, (found,) = found_in(POLICY | {"kind": kind})

    assert (found.code, policies.policies) == ("PSM616", ())
    assert "validating policies only" in found.message
    assert [item.name for item in policies.broken] == ["p"]


def test_what_can_not_be_read_as_a_policy_is_broken_and_not_lost():
    policies, found = found_in(with_value(POLICY, "/spec/validations", "none"))

    assert (len(policies.policies), len(policies.broken)) == (0, 1)
    assert found[0].code == "PSM610"
    assert policies.names == {"p"}


@pytest.mark.parametrize("body", [[], "text", 3, {"kind": "ValidatingAdmissionPolicy"}, {"apiVersion": 1, "kind": []}])
def test_what_is_no_object_is_said_and_raises_nothing(body):
    policies, found = found_in(body)

    if body:
        assert found
    assert not policies.policies


def test_a_list_stands_for_its_items_and_places_lead_into_it():
    policies, (found,) = found_in(
        {"apiVersion": "v1", "kind": "List", "items": [POLICY, with_value(BINDING, "/spec/policyName", "X Y")]}
    )

    assert [item.name for item in policies.policies] == ["p"]
    assert found.primary.pointer == "/items/1/spec/policyName"


TEXT = textwrap.dedent("""\
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingAdmissionPolicy
    metadata: {name: p}
    spec:
      validations:
        - expression: |
            true &&
              here
        - expression: 'in quotes'
        - expression: plain text
        - expression: >-
            folded
            text
        - {expression: "escaped \\" text"}
    """)


@pytest.mark.parametrize(
    ("index", "line", "column", "place"),
    [
        (0, 1, 1, (7, 9)),
        (0, 2, 3, (8, 11)),
        (1, 1, 4, (9, 23)),
        (2, 1, 1, (10, 19)),
        (2, 1, 7, (10, 25)),
        (3, 2, 1, (11, 19)),
        (4, 1, 5, (14, 20)),
    ],
)
def test_a_place_inside_an_expression_is_a_place_in_the_file(index, line, column, place):
    (item,) = placed_objects("a.yaml", TEXT)

    start = item.inside(f"/spec/validations/{index}/expression", line, column).span.start

    assert (start.line, start.column) == place
