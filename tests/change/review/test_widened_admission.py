"""A changed admission policy is one that people look at, unless it surely refuses all that it refused."""

from __future__ import annotations

import copy
import json

import pytest

from poolsmith.change.review.policy_widening import policy_widening
from poolsmith.change.review.widened_admission import same_expression
from poolsmith.guard.policies.policies import Policies

API = "admissionregistration.k8s.io/v1"
RULE = {
    "apiGroups": ["", "apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["pods", "pods/ephemeralcontainers"],
}
POLICY = {
    "apiVersion": API,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "few"},
    "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {
            "resourceRules": [RULE],
            "excludeResourceRules": [RULE | {"resources": ["pods/status"]}],
            "namespaceSelector": {"matchLabels": {"team": "shop"}},
            "objectSelector": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]},
        },
        "matchConditions": [{"name": "no-nodes", "expression": "!('system:nodes' in request.userInfo.groups)"}],
        "variables": [{"name": "most", "expression": "int(params.data.most)"}],
        "validations": [
            {"expression": "object.spec.containers.size() <= variables.most", "message": "too many"},
            {"expression": "object.spec.hostNetwork != true"},
        ],
    },
}
BINDING = {
    "apiVersion": API,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "few"},
    "spec": {
        "policyName": "few",
        "validationActions": ["Deny", "Audit"],
        "paramRef": {"name": "limits", "namespace": "policies", "parameterNotFoundAction": "Deny"},
        "matchResources": {"resourceRules": [RULE]},
    },
}
LIMITS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "policies"},
    "data": {"most": "3"},
}
OTHER = copy.deepcopy(POLICY) | {"metadata": {"name": "other"}}
OTHER_BINDING = copy.deepcopy(BINDING) | {"metadata": {"name": "other"}}
OTHER_BINDING["spec"]["policyName"] = "other"
CASE = {"name": "a", "policy": "few", "object": {}, "expect": {"verdict": "allow"}}
FEW = [POLICY, BINDING, LIMITS]


def cases_of(*cases):
    return {"apiVersion": "poolsmith/v1", "kind": "PolicyTest", "metadata": {"name": "few"}, "spec": {"cases": cases}}


@pytest.fixture
def widened(tmp_path):
    """What is said of two lists of objects, or of files by name with such lists."""

    def written(side, objects):
        files = objects if isinstance(objects, dict) else {"few.yaml": objects}
        for name, content in files.items():
            path = tmp_path / side / "policies/admission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else "---\n".join(json.dumps(item) + "\n" for item in content)
            path.write_text(text)
        return Policies(tmp_path / side)

    def run(base, head):
        return list(policy_widening(written("a", base), written("b", head), is_accepted=False))

    return run


def at(body, path, value):
    """A copy with another value at a path of keys with dots between; None takes it away."""
    found = copy.deepcopy(body)
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    target = found
    for key in parents:
        target = target[key]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return found


def policy(path, value):
    return [at(POLICY, f"spec.{path}", value), BINDING, LIMITS]


def binding(path, value):
    return [POLICY, at(BINDING, f"spec.{path}", value), LIMITS]


IGNORE = [at(POLICY, "spec.failurePolicy", "Ignore"), BINDING, LIMITS]
MATCH = "matchConstraints"
VALIDATIONS = POLICY["spec"]["validations"]
MORE = {"expression": "object.metadata.name != 'a'"}

WIDER = {
    "the policy gone": (FEW, [BINDING], "policy `few`: is gone"),
    "the policy renamed": (FEW, [at(POLICY, "metadata.name", "renamed"), BINDING, LIMITS], "policy `few`: is gone"),
    "both renamed": (FEW, [OTHER, OTHER_BINDING, LIMITS], "policy `few`: is gone"),
    "the policy of a version that nobody serves": (
        FEW,
        [at(POLICY, "apiVersion", API + "alpha1"), BINDING, LIMITS],
        "no longer be shipped",
    ),
    "the policy of an older version": (
        FEW,
        [POLICY | {"apiVersion": f"{API}beta1"}, BINDING, LIMITS],
        "Kubernetes 1.34",
    ),
    "another one beside it that is not served": (
        FEW,
        [*FEW, OTHER | {"apiVersion": f"{API}beta1"}],
        "no longer be shipped to clusters with Kubernetes 1.34",
    ),
    "ignored failures": (FEW, policy("failurePolicy", "Ignore"), "`failurePolicy: Ignore`"),
    "a validation gone": (FEW, policy("validations", VALIDATIONS[:1]), "`object.spec.hostNetwork != true` is not"),
    "a validation that says less": (
        FEW,
        policy("validations.1.expression", "true"),
        "`object.spec.hostNetwork != true`",
    ),
    "a validation in another place where failures are ignored": (
        IGNORE,
        [at(IGNORE[0], "spec.validations", [MORE, *VALIDATIONS]), BINDING, LIMITS],
        "in its place",
    ),
    "a condition more": (
        FEW,
        policy("matchConditions", [*POLICY["spec"]["matchConditions"], {"name": "x", "expression": "false"}]),
        "the match condition `false` is new",
    ),
    "another condition": (FEW, policy("matchConditions.0.expression", "false"), "the match condition `false` is new"),
    "another variable": (FEW, policy("variables.0.expression", "99"), "variable `most` is another"),
    "a variable renamed": (FEW, policy("variables.0.name", "x"), "variable `most` is another"),
    "an operation fewer": (FEW, policy(f"{MATCH}.resourceRules.0.operations", ["CREATE"]), "`resourceRules`"),
    "a resource fewer": (FEW, policy(f"{MATCH}.resourceRules.0.resources", ["pods"]), "`resourceRules`"),
    "other resources": (FEW, policy(f"{MATCH}.resourceRules.0.resources", ["*"]), "`resourceRules`"),
    "a group fewer": (FEW, policy(f"{MATCH}.resourceRules.0.apiGroups", [""]), "`resourceRules`"),
    "another version of the resource": (FEW, policy(f"{MATCH}.resourceRules.0.apiVersions", ["v2"]), "`resourceRules`"),
    "names": (FEW, policy(f"{MATCH}.resourceRules.0.resourceNames", ["a"]), "`resourceRules`"),
    "a scope": (FEW, policy(f"{MATCH}.resourceRules.0.scope", "Cluster"), "`resourceRules`"),
    "more left out": (FEW, policy(f"{MATCH}.excludeResourceRules.0.resources", ["pods"]), "`excludeResourceRules`"),
    "more namespaces left out": (
        FEW,
        policy(f"{MATCH}.namespaceSelector", {"matchLabels": {"team": "shop", "env": "prod"}}),
        "`namespaceSelector`",
    ),
    "other namespaces": (FEW, policy(f"{MATCH}.namespaceSelector.matchLabels.team", "x"), "`namespaceSelector`"),
    "other objects": (
        FEW,
        policy(f"{MATCH}.objectSelector.matchExpressions.0.operator", "DoesNotExist"),
        "objectSelector",
    ),
    "exact versions": (FEW, policy(f"{MATCH}.matchPolicy", "Exact"), "`matchPolicy: Exact`"),
    "no parameter kind": (FEW, policy("paramKind", None)[:2], "`paramKind` is another"),
    "hooks of Argo CD": (
        FEW,
        [at(POLICY, "metadata.annotations", {"argocd.argoproj.io/hook": "PreSync"}), BINDING, LIMITS],
        "may keep it out",
    ),
    "left out by kustomize": (
        FEW,
        [at(POLICY, "metadata.annotations", {"config.kubernetes.io/local-config": "true"}), BINDING, LIMITS],
        "may keep it out",
    ),
    "left out by Flux": (
        FEW,
        [POLICY, at(BINDING, "metadata.labels", {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}), LIMITS],
        "may keep it out",
    ),
    "owned by another object": (FEW, [at(POLICY, "metadata.ownerReferences", []), BINDING, LIMITS], "`metadata.owner"),
    "the binding gone": (FEW, [POLICY], "binding `few`: is gone"),
    "the binding renamed": (FEW, [POLICY, at(BINDING, "metadata.name", "x"), LIMITS], "binding `few`: is gone"),
    "another policy bound": (
        FEW,
        [*FEW[:1], at(BINDING, "spec.policyName", "other"), LIMITS, OTHER],
        "it binds `other`",
    ),
    "warned only": (FEW, binding("validationActions", ["Warn"]), "what is refused would pass, with Warn only"),
    "audited only": (FEW, binding("validationActions", ["Audit"]), "with Audit only"),
    "no warning": (
        binding("validationActions", ["Warn", "Audit"]),
        binding("validationActions", ["Audit"]),
        "nobody would get the Warn any more",
    ),
    "parameters by another name": (FEW, binding("paramRef.name", "x")[:2], "`paramRef` is another"),
    "parameters that may be missing": (
        FEW,
        binding("paramRef.parameterNotFoundAction", "Allow"),
        "`paramRef` is another",
    ),
    "bound to less": (FEW, binding("matchResources.resourceRules.0.operations", ["CREATE"]), "`resourceRules`"),
    "bound to some namespaces": (
        FEW,
        binding("matchResources.namespaceSelector", {"matchLabels": {"a": "b"}}),
        "`namespaceSelector`",
    ),
    "bound to all but some": (
        FEW,
        binding("matchResources.excludeResourceRules", [RULE]),
        "`excludeResourceRules` leaves out more",
    ),
    "another parameter": (
        FEW,
        [POLICY, BINDING, at(LIMITS, "data.most", "99")],
        "ConfigMap/limits in namespace `policies`",
    ),
    "no parameter": (FEW, [POLICY, BINDING], "ConfigMap/limits in namespace `policies` is gone"),
    "a parameter that was missing": ([POLICY, BINDING], FEW, "ConfigMap/limits in namespace `policies` is new"),
    "an object of a new policy, anywhere": (
        FEW,
        [*FEW, OTHER, at(OTHER_BINDING, "spec.paramRef.namespace", "web"), at(LIMITS, "metadata.namespace", "web")],
        "ConfigMap/limits in namespace `web` is new",
    ),
    "no test left": (
        {"few.yaml": FEW, "few.test.yaml": [cases_of(CASE)]},
        {"few.yaml": FEW},
        "no test case of it is left",
    ),
    "no test of this policy left": (
        {"few.yaml": [*FEW, OTHER], "few.test.yaml": [cases_of(CASE)]},
        {"few.yaml": [*FEW, OTHER], "few.test.yaml": [cases_of(CASE | {"policy": "other"})]},
        "no test case of it is left",
    ),
}


@pytest.mark.parametrize("name", WIDER)
def test_what_may_refuse_less_is_told(widened, name):
    base, head, words = WIDER[name]

    found = widened(base, head)

    assert {item.code for item in found} == {"PSM660"}
    assert any(words in item.message for item in found), [item.message for item in found]
    assert {item.primary.span.path for item in found} <= {"policies/admission/few.yaml"}


FREE = {
    "the same": (FEW, FEW),
    "another file": (FEW, {"renamed.yaml": FEW}),
    "several files": (FEW, {"a.yaml": FEW[:1], "b.yaml": FEW[1:]}),
    "another order": (FEW, FEW[::-1]),
    "with indents": (FEW, {"few.yaml": "---\n".join(f"# text\n{json.dumps(item, indent=2)}\n" for item in FEW)}),
    "labels and annotations of one's own": (
        FEW,
        [at(POLICY, "metadata.labels", {"team": "a"}), at(BINDING, "metadata.annotations", {"why": "b"}), LIMITS],
    ),
    "failures refuse": (IGNORE, FEW),
    "the default of failures": (FEW, policy("failurePolicy", "Fail")),
    "a validation more": (FEW, policy("validations", [*VALIDATIONS, MORE])),
    "a validation more, before": (FEW, policy("validations", [MORE, *VALIDATIONS])),
    "a validation more, behind, where failures are ignored": (
        IGNORE,
        [at(IGNORE[0], "spec.validations", [*VALIDATIONS, MORE]), BINDING, LIMITS],
    ),
    "another message": (FEW, policy("validations.0.message", "far too many")),
    "other blanks": (FEW, policy("validations.1.expression", "  object.spec.hostNetwork\n  !=   true // never\n")),
    "a condition fewer": (FEW, policy("matchConditions", [])),
    "a condition renamed": (FEW, policy("matchConditions.0.name", "x")),
    "a variable more": (
        FEW,
        policy("variables", [*POLICY["spec"]["variables"], {"name": "x", "expression": "1"}]),
    ),
    "an audit annotation": (FEW, policy("auditAnnotations", [{"key": "a", "valueExpression": "'b'"}])),
    "an operation more": (FEW, policy(f"{MATCH}.resourceRules.0.operations", ["*"])),
    "all resources": (FEW, policy(f"{MATCH}.resourceRules.0.resources", ["*/*"])),
    "pods and what is of them": (FEW, policy(f"{MATCH}.resourceRules.0.resources", ["pods/*"])),
    "a rule more": (FEW, policy(f"{MATCH}.resourceRules", [RULE, RULE | {"resources": ["nodes"]}])),
    "halves of a rule": (
        FEW,
        policy(f"{MATCH}.resourceRules", [RULE | {"operations": ["CREATE"]}, RULE | {"operations": ["UPDATE"]}]),
    ),
    "lists in another order": (FEW, policy(f"{MATCH}.resourceRules.0.operations", ["UPDATE", "CREATE"])),
    "nothing left out": (FEW, policy(f"{MATCH}.excludeResourceRules", [])),
    "all namespaces": (FEW, policy(f"{MATCH}.namespaceSelector", None)),
    "all objects": (FEW, policy(f"{MATCH}.objectSelector", {})),
    "the default of matching": (FEW, policy(f"{MATCH}.matchPolicy", "Equivalent")),
    "a warning more": (
        binding("validationActions", ["Audit"]),
        binding("validationActions", ["Audit", "Warn"]),
    ),
    "deny at last": (binding("validationActions", ["Warn", "Audit"]), binding("validationActions", ["Deny"])),
    "bound to everything": (FEW, binding("matchResources", None)),
    "a missing parameter refuses": (
        binding("paramRef.parameterNotFoundAction", "Allow"),
        binding("paramRef.parameterNotFoundAction", "Deny"),
    ),
    "a policy and a binding more": (FEW, [*FEW, OTHER, OTHER_BINDING]),
    "the first policies": ([], [at(POLICY, "spec.paramKind", None), at(BINDING, "spec.paramRef", None)]),
    "a binding more": (FEW, [*FEW, at(BINDING, "metadata.name", "again")]),
    "of the newer version": ([POLICY | {"apiVersion": f"{API}beta1"}, BINDING, LIMITS], FEW),
    "a parameter beside the others": (
        FEW,
        [*FEW, OTHER, at(OTHER_BINDING, "spec.paramRef.name", "more"), at(LIMITS, "metadata.name", "more")],
    ),
    "other tests": (
        {"few.yaml": FEW, "few.test.yaml": [cases_of(CASE, CASE | {"name": "b"})]},
        {"few.yaml": FEW, "other.test.yaml": [cases_of(CASE | {"name": "c"})]},
    ),
}


@pytest.mark.parametrize("name", FREE)
def test_what_surely_refuses_as_much_is_free(widened, name):
    assert [item.message for item in widened(*FREE[name])] == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a == b", "a  ==\n b // text", True),
        ("a == 'b c'", "a == 'b  c'", False),
        ("a == 'b // c'", "a == 'b // d'", False),
        ('a == "b\\" // c" && d', 'a == "b\\" // c"   && d', True),
        ("a == r'\\' || b", "a == r'\\'  || b", False),
        ("a in b", "ain b", False),
        ("a - -b", "a --b", False),
        ("'''a\n b''' == c", "'''a\n  b''' == c", False),
    ],
)
def test_expressions_are_one_where_nothing_but_blanks_differs(one, other, expected):
    assert same_expression(one, other) is expected


SECRETS = RULE | {"apiGroups": [""], "resources": ["secrets"]}
NOTED = [{"key": "seen", "valueExpression": "string(object.data)"}]
NEW = {
    "apiVersion": API,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "new"},
    "spec": {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "true", "message": "never"}],
    },
}
NEW_BINDING = {
    "apiVersion": API,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "new"},
    "spec": {"policyName": "new", "validationActions": ["Deny"]},
}


def new_policy(rule=None, **fields):
    made = copy.deepcopy(NEW)
    made["spec"] |= fields
    if rule is not None:
        made["spec"]["matchConstraints"] = {"resourceRules": [rule]}
    return [*FEW, made, NEW_BINDING]


def changed_policy(rule, **fields):
    made = copy.deepcopy(POLICY)
    made["spec"] |= fields
    made["spec"]["matchConstraints"]["resourceRules"] = [RULE, rule]
    return [made, BINDING, LIMITS]


READS = {
    "secrets": (new_policy(SECRETS, auditAnnotations=NOTED), "new and would read requests for `secrets`"),
    "secrets without a word": (new_policy(SECRETS), "verdicts depend on them"),
    "everything": (new_policy(SECRETS | {"resources": ["*"]}), "`secrets`"),
    "every group": (new_policy(SECRETS | {"apiGroups": ["*"], "resources": ["*/*"]}), "`serviceaccounts/token`"),
    "tokens": (new_policy(SECRETS | {"resources": ["serviceaccounts/token"]}), "`serviceaccounts/token`"),
    "token reviews": (
        new_policy(SECRETS | {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"]}),
        "tokenreviews",
    ),
    "an old policy": (changed_policy(SECRETS, auditAnnotations=NOTED), "would read, newly or otherwise,"),
    "an old policy with messages": (
        changed_policy(
            SECRETS,
            validations=[
                *POLICY["spec"]["validations"],
                {"expression": "false", "messageExpression": "string(object.data)"},
            ],
        ),
        "would read, newly or otherwise,",
    ),
    "secrets as parameters": (new_policy(paramKind={"apiVersion": "v1", "kind": "Secret"}), "v1 Secret as parameters"),
    "objects of somebody's": (
        new_policy(paramKind={"apiVersion": "x.example.com/v1", "kind": "Key"}),
        "Key as parameters",
    ),
    "a parameter that somebody else has": (
        [
            *new_policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"})[:-1],
            {
                **NEW_BINDING,
                "spec": {**NEW_BINDING["spec"], "paramRef": {"name": "kubeadm-config", "namespace": "kube-system"}},
            },
        ],
        "would read ConfigMap `kubeadm-config` in namespace `kube-system`",
    ),
}
READS_FREELY = {
    "pods": new_policy(auditAnnotations=NOTED),
    "workloads": new_policy(RULE | {"apiGroups": ["apps"], "resources": ["*"]}),
    "a parameter of its own": [
        *new_policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"})[:-1],
        {**NEW_BINDING, "spec": {**NEW_BINDING["spec"], "paramRef": {"name": "mine", "namespace": "policies"}}},
        LIMITS | {"metadata": {"name": "mine", "namespace": "policies"}},
    ],
}


@pytest.mark.parametrize("name", READS)
def test_what_a_policy_would_newly_read_is_told(widened, name):
    head, said = READS[name]

    assert said in " ".join(item.message for item in widened(FEW, head))


@pytest.mark.parametrize("name", READS_FREELY)
def test_what_every_policy_may_read_is_free(widened, name):
    assert [item.message for item in widened(FEW, READS_FREELY[name])] == []


def test_what_the_base_reads_stays(widened):
    assert [item.message for item in widened(new_policy(SECRETS), new_policy(SECRETS))] == []
