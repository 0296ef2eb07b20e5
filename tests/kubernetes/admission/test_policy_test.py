"""poolsmith policy test: cases beside policies, and policies that lack them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from poolsmith.kubernetes.cel import engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{operations: ["*"], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]
  validations:
    - expression: params == null || object.spec.replicas <= int(params.data.max)
      messageExpression: "'at most ' + params.data.max"
"""
TESTS = """\
apiVersion: poolsmith/v1
kind: PolicyTest
metadata: {name: replicas}
spec:
  cases:
    - name: few
      policy: replicas
      object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2}}
      params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {max: "3"}}]
      expect: {verdict: allow}
    - name: many
      object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 5}}
      params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {max: "3"}}]
      expect: {verdict: deny, message: at most 3}
"""
OBJECT = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 5}}"


@pytest.fixture
def run(run_cli, write_files):
    def test(*flags, form="json", paths=(), **files):
        names = {"policy": "replicas.yaml", "tests": "replicas.test.yaml"}
        root = write_files({f"policies/admission/{names.get(name, name)}": text for name, text in files.items()})
        return run_cli(["policy", "test", *paths, *flags, "--format", form], cwd=root)

    return test


def found(result):
    return [(item["code"], item["message"]) for item in result.diagnostics]


def test_a_policy_with_a_passing_and_a_failing_case(run):
    result = run(policy=POLICY, tests=TESTS)

    assert result.code == 0
    assert result.report["summary"] == {"cases": 2, "passed": 2, "failed": 0}
    assert [(case["name"], case["policy"], case["actual"]) for case in result.report["cases"]] == [
        ("few", "replicas", "allow"),
        ("many", "replicas", "deny"),
    ]
    assert found(result) == []


def test_a_case_that_comes_out_otherwise_is_a_finding_at_its_line(run):
    result = run(policy=POLICY, tests=TESTS.replace("verdict: allow", "verdict: deny"))

    assert result.code == 1
    failed = next(item for item in result.diagnostics if item["code"] == "PSM631")
    assert failed["message"] == "case `few`: expected deny, got allow"
    assert (failed["primary"]["path"], failed["primary"]["pointer"]) == (
        "policies/admission/replicas.test.yaml",
        "/spec/cases/0/expect",
    )


def test_another_message_is_a_failure(run):
    result = run(policy=POLICY, tests=TESTS.replace("at most 3}", "at most 9}"))

    assert found(result)[0] == ("PSM631", "case `many`: the message is `at most 3`, without `at most 9`")


def test_an_object_that_the_policy_is_not_meant_for_is_no_denial(run):
    result = run(policy=POLICY, tests=TESTS.replace("kind: Deployment", "kind: DaemonSet"))

    assert any("no policy applies to this request (resourceRules)" in message for _, message in found(result))


@pytest.mark.parametrize(("keep", "lacks"), [(0, "none is denied"), (1, "no case passes")])
def test_a_policy_wants_both_cases(run, keep, lacks):
    head, *cases = TESTS.split("    - name: ")

    result = run(policy=POLICY, tests=head + "    - name: " + cases[keep])

    ((code, message),) = found(result)
    assert (code, result.code) == ("PSM630", 0)
    assert lacks.removeprefix("none ") in message


def test_a_policy_without_tests_is_untested(run):
    result = run(policy=POLICY)

    assert [code for code, _ in found(result)] == ["PSM630"]
    assert run("--fail-on", "warning", policy=POLICY).code == 1


def test_a_case_that_only_passes_because_nothing_matched_covers_nothing(run):
    result = run(policy=POLICY, tests=TESTS.replace("kind: Deployment", "kind: DaemonSet", 1))

    assert result.report["cases"][0]["passed"] is True
    assert [code for code, _ in found(result)] == ["PSM630"]


def test_an_error_can_be_expected(run):
    tests = TESTS.replace('data: {max: "3"}', "data: {}", 1).replace("verdict: allow", "verdict: error")

    result = run(policy=POLICY, tests=tests)

    assert result.report["cases"][0]["passed"] is True


def test_what_is_not_evaluated_fails_and_is_named(run):
    policy = POLICY.replace("params == null", "request.userInfo.username == 'jane'")
    tests = TESTS.replace('max: "3"', 'max: "1"', 1)

    result = run(policy=policy, tests=tests)

    assert "expected allow, got not evaluated" in found(result)[0][1]


def test_a_case_names_its_user(run):
    policy = POLICY.replace("params == null", "request.userInfo.username == 'jane'")
    user = "user: {name: jane, groups: [ops]}\n      expect: {verdict: allow}"
    tests = TESTS.replace('max: "3"', 'max: "1"', 1).replace("expect: {verdict: allow}", user)

    result = run(policy=policy, tests=tests.replace("name: many", "name: many\n      user: {name: joe}"))

    assert (result.code, found(result)) == (0, [])


def test_objects_may_lie_in_files(run):
    tests = TESTS.replace(f"object: {OBJECT}", "objectFile: objects/many.yaml")

    result = run(policy=POLICY, tests=tests, **{"objects/many.yaml": OBJECT})

    assert result.report["summary"]["passed"] == 2


@pytest.mark.rows(2, "a row takes 0.29 s; each value of each column is seen first")
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (f"object: {OBJECT}", "objectFile: missing.yaml", "missing.yaml"),
        (f"object: {OBJECT}", "operation: CREATE", "the case has no object"),
        ("- name: many", "- name: many\n      objectFile: a.yaml", "keep one of the two"),
        ("- name: many", "- name: many\n      policy: repliks", "there is no sound policy `repliks`"),
    ],
)
def test_a_case_that_can_not_run_fails(run, old, new, why):
    result = run(policy=POLICY, tests=TESTS.replace(old, new))

    assert any(code == "PSM631" and why in message for code, message in found(result))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kind: PolicyTest", "kind: PolicyTests"),
        ("verdict: allow", "verdict: pass"),
        ("spec:", "spec:\n  policies: [nothing.yaml]"),
        ("expect: {verdict: allow}", "expects: {verdict: allow}"),
        ("spec:", "spec:\n  policies: [../../secret.yaml]"),
    ],
)
def test_the_shape_of_a_test_file_is_checked(run, old, new):
    result = run(policy=POLICY, tests=TESTS.replace(old, new, 1))

    assert result.code == 1
    assert all(
        item["primary"]["path"].endswith("replicas.test.yaml")
        for item in result.diagnostics
        if item["code"] != "PSM630"
    )


def test_a_policy_that_the_api_server_would_refuse_fails_its_cases(run):
    result = run(policy=POLICY.replace("params == null", "nobody == null"), tests=TESTS)

    assert {"PSM611", "PSM631"} <= {code for code, _ in found(result)}


def test_bindings_beside_the_policy_count(run):
    binding = """
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: replicas
  validationActions: [Warn]
  paramRef: {name: m, parameterNotFoundAction: Deny}
  matchResources: {namespaceSelector: {matchLabels: {env: prod}}}
"""
    space = "namespaceObject: {apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {env: prod}}}\n      expect"

    result = run(policy=POLICY + binding, tests=TESTS.replace("expect", space))

    assert (result.code, found(result)) == (0, [])


def test_named_paths(run, run_cli, tmp_path):
    run(policy=POLICY, tests=TESTS)

    file = run_cli(["policy", "test", "policies/admission/replicas.test.yaml", "--format", "json"], cwd=tmp_path)
    elsewhere = run_cli(["policy", "test", tmp_path / "policies", "--format", "json"], cwd="/")

    assert (file.report["summary"]["cases"], elsewhere.report["summary"]["cases"]) == (2, 2)


def test_nothing_there_is_no_pass(run_cli, tmp_path):
    assert run_cli(["policy", "test", tmp_path / "missing"]).code == 2
    (tmp_path / "empty").mkdir()
    assert run_cli(["policy", "test", tmp_path / "empty"]).code == 3


def test_text_for_people(run):
    out = run(form="text", policy=POLICY, tests=TESTS.replace("at most 3}", "at most 9}")).out

    assert "ok     replicas: few" in out
    assert "FAILED replicas: many" in out
    assert "PSM631 failed-policy-test" in out


def test_junit(run):
    names = TESTS.replace("name: few", 'name: "<few> & \\"many\\" é"').replace("at most 3}", "<b>}")
    policy = POLICY.replace("at most '", "\\u001b[31m at most '")

    root = ET.fromstring(run(form="junit", policy=policy, tests=names).out)

    (suite, others) = root.findall("testsuite")
    assert (root.get("tests"), root.get("failures")) == ("3", "2")
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "policies/admission/replicas.test.yaml",
        "2",
        "1",
    )
    assert others.get("name") == "findings"
    few, many = suite.findall("testcase")
    assert few.get("name") == '<few> & "many" é'
    assert few.find("failure") is None
    assert "\\x1b[31m at most 3" in many.find("failure").get("message")
    assert "<b>" in many.find("failure").get("message")
