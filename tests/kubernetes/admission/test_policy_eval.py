"""poolsmith policy eval: anyone's policies on one object, as one request to the API server."""

from __future__ import annotations

import json

import pytest

from poolsmith.kubernetes.cel import engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules: [{operations: ["*"], apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]
  validations:
    - expression: object.spec.replicas <= 3
      messageExpression: "'at most 3, not ' + string(object.spec.replicas)"
      reason: Forbidden
    - expression: object.metadata.name != 'bad'
"""
BINDING = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: replicas, validationActions: [Deny]}
"""
OBJECT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 5}
"""


@pytest.fixture
def evaluate(run_cli, write_files):
    """Run the verb on texts; `policy`, `object`, `old`, `params`, `namespace` are files, the rest are flags."""

    def run(*flags, form="json", **texts):
        root = write_files({f"{name}.yaml": text for name, text in texts.items()})
        options = {"namespace": "--namespace-object"}
        files = [part for name in texts for part in (options.get(name, f"--{name}"), f"{name}.yaml")]
        return run_cli(["policy", "eval", *files, *flags, "--format", form], cwd=root)

    return run


def one_policy(expression, **spec):
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]
            },
            "validations": [{"expression": expression}],
            **spec,
        },
    }
    return json.dumps(body)


def verdicts(result):
    return [item["verdict"] for item in result.report["results"]]


def test_a_denied_object(evaluate):
    result = evaluate(policy=POLICY + BINDING, object=OBJECT)

    assert result.code == 1
    report = result.report
    assert (report["version"], report["allowed"]) == (1, False)
    first, second = report["results"]
    assert {key: first[key] for key in ("policy", "binding", "validation", "verdict", "action", "message")} == {
        "policy": "replicas",
        "binding": "everywhere",
        "validation": 0,
        "verdict": "deny",
        "action": "Deny",
        "message": "at most 3, not 5",
    }
    assert (first["reason"], first["code"], first["denied"]) == ("Forbidden", 403, True)
    assert (second["verdict"], second["action"], second["validation"]) == ("allow", None, 1)
    (decision,) = report["decisions"]
    assert decision["message"] == (
        "ValidatingAdmissionPolicy 'replicas' with binding 'everywhere' denied request: at most 3, not 5"
    )


def test_an_allowed_object(evaluate):
    result = evaluate(policy=POLICY + BINDING, object=OBJECT.replace("5", "2"))

    assert (result.code, result.report["allowed"], verdicts(result)) == (0, True, ["allow", "allow"])


def test_without_any_binding_deny_is_implied_and_said(evaluate):
    result = evaluate(policy=POLICY, object=OBJECT)

    assert (result.code, result.report["results"][0]["binding"]) == (1, None)
    assert result.report["results"][0]["action"] == "Deny"
    assert "no binding is given" in result.report["notes"][0]


@pytest.mark.parametrize(("action", "words"), [("Warn", "warnings"), ("Audit", "warnings")])
def test_other_actions_do_not_deny(evaluate, action, words):
    result = evaluate(policy=POLICY + BINDING.replace("Deny", action), object=OBJECT)

    assert (result.code, result.report["allowed"]) == (0, True)
    assert result.report["results"][0]["action"] == action
    assert len(result.report["decisions"][0][words]) == (action == "Warn")


def test_a_policy_that_is_not_meant_for_the_object_is_listed_apart(evaluate):
    result = evaluate(policy=POLICY, object=OBJECT.replace("Deployment", "DaemonSet"))

    assert (result.code, result.report["results"]) == (0, [])
    assert result.report["notMatched"] == [
        {"object": "DaemonSet/shop/web", "policy": "replicas", "binding": None, "why": "resourceRules"}
    ]


def test_an_error_shows_what_failure_policy_makes_of_it(evaluate):
    denied = evaluate(policy=one_policy("object.nothing == 1"), object=OBJECT)
    passed = evaluate(policy=one_policy("object.nothing == 1", failurePolicy="Ignore"), object=OBJECT)

    assert (denied.code, verdicts(denied), denied.report["results"][0]["action"]) == (1, ["error"], "Deny")
    assert (passed.code, verdicts(passed), passed.report["results"][0]["action"]) == (0, ["error"], None)
    assert passed.report["results"][0]["denied"] is False


def test_a_compile_error_never_looks_like_a_pass(evaluate):
    result = evaluate(policy=one_policy("objekt.spec == 1", failurePolicy="Ignore"), object=OBJECT)

    assert (result.code, verdicts(result)) == (1, ["error"])
    (found,) = result.diagnostics
    assert (found["code"], found["primary"]["pointer"]) == ("PSM611", "/spec/validations/0/expression")


def test_what_a_later_kubernetes_has_is_named(evaluate):
    expression = "isSemver(object.metadata.name)"

    old = evaluate("--kubernetes", "1.30", policy=one_policy(expression), object=OBJECT)
    new = evaluate("--kubernetes", "1.34", policy=one_policy(expression), object=OBJECT)

    assert [item["code"] for item in old.diagnostics] == ["PSM612"]
    assert "needs Kubernetes 1.34" in old.diagnostics[0]["message"]
    assert (new.diagnostics, verdicts(new)) == ([], ["deny"])


def test_the_authorizer_can_not_be_asked(evaluate):
    expression = "authorizer.group('').resource('pods').check('create').allowed()"

    result = evaluate(policy=one_policy(expression), object=OBJECT)

    assert (result.code, result.report["allowed"], verdicts(result)) == (1, None, ["notEvaluated"])


def test_without_the_engine_nothing_is_evaluated_and_the_run_says_what_to_install(evaluate, monkeypatch):
    missing = "the CEL engine is not installed; install it with `pip install --require-hashes -r requirements-run.lock`"
    monkeypatch.setattr("poolsmith.kubernetes.cel.compiled.engine_problem", lambda: missing)

    result = evaluate(policy=POLICY + BINDING, object=OBJECT.replace("5", "2"))

    assert (result.code, result.report["allowed"], verdicts(result)) == (1, None, ["notEvaluated", "notEvaluated"])
    assert result.report["results"][0]["message"] == missing


class TestUnknowns:
    """What the API server knows and nobody does here."""

    def test_a_user_that_is_not_named_is_unknown(self, evaluate):
        asks = one_policy("request.userInfo.username == 'jane'")

        assert verdicts(evaluate(policy=asks, object=OBJECT)) == ["notEvaluated"]
        assert verdicts(evaluate("--user", "jane", policy=asks, object=OBJECT)) == ["allow"]
        assert verdicts(evaluate("--user", "joe", policy=asks, object=OBJECT)) == ["deny"]

    def test_what_holds_for_every_user_is_decided(self, evaluate):
        asks = one_policy("object.spec.replicas == 5 || request.userInfo.username == 'jane'")

        assert verdicts(evaluate(policy=asks, object=OBJECT)) == ["allow"]

    @pytest.mark.parametrize("expression", ["has(request.userInfo.username)", "request.userInfo.?username.hasValue()"])
    def test_whether_there_is_a_user_is_not_decided(self, evaluate, expression):
        assert verdicts(evaluate(policy=one_policy(expression), object=OBJECT)) == ["notEvaluated"]

    def test_a_user_that_is_read_through_a_variable_is_unknown(self, evaluate):
        variables = [{"name": "who", "expression": "request.userInfo.username"}]

        assert verdicts(evaluate(policy=one_policy("variables.who == 'a'", variables=variables), object=OBJECT)) == [
            "notEvaluated"
        ]

    def test_groups(self, evaluate):
        asks = one_policy("'ops' in request.userInfo.groups")

        assert verdicts(evaluate("--user", "a", "--group", "ops", policy=asks, object=OBJECT)) == ["allow"]

    def test_a_namespace_that_is_not_given_is_unknown(self, evaluate):
        asks = one_policy("namespaceObject.metadata.name == 'shop'")
        namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"

        assert verdicts(evaluate(policy=asks, object=OBJECT)) == ["notEvaluated"]
        assert verdicts(evaluate(policy=asks, object=OBJECT, namespace=namespace)) == ["allow"]

    def test_an_object_without_a_namespace_goes_to_the_one_that_is_given(self, evaluate):
        asks = one_policy("object.metadata.namespace == 'shop' && request.namespace == namespaceObject.metadata.name")
        namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"
        body = OBJECT.replace(", namespace: shop", "")

        assert verdicts(evaluate(policy=asks, object=body, namespace=namespace)) == ["allow"]
        assert verdicts(evaluate(policy=one_policy("request.namespace == 'default'"), object=body)) == ["allow"]

    def test_an_update_without_the_old_object(self, evaluate):
        asks = one_policy("oldObject.spec.replicas == 5")

        assert verdicts(evaluate("--operation", "UPDATE", policy=asks, object=OBJECT)) == ["notEvaluated"]
        assert verdicts(evaluate(policy=asks, object=OBJECT, old=OBJECT)) == ["allow"]


class TestOperations:
    def test_objects_say_what_is_done(self, evaluate):
        def operation(**texts):
            (decision,) = evaluate(policy=one_policy("true"), **texts).report["decisions"]
            return decision["operation"]

        assert operation(object=OBJECT) == "CREATE"
        assert operation(object=OBJECT, old=OBJECT) == "UPDATE"
        assert operation(old=OBJECT) == "DELETE"

    def test_a_delete_has_only_the_old_object(self, evaluate):
        asks = one_policy("object == null && oldObject.metadata.name == 'web'")

        assert verdicts(evaluate(policy=asks, old=OBJECT)) == ["allow"]
        assert verdicts(evaluate("--operation", "DELETE", policy=asks, object=OBJECT)) == ["allow"]

    def test_a_create_has_no_old_object(self, evaluate):
        result = evaluate("--operation", "CREATE", policy=one_policy("oldObject == null"), object=OBJECT, old=OBJECT)

        assert verdicts(result) == ["allow"]
        assert any("--old is not used" in note for note in result.report["notes"])

    def test_a_subresource(self, evaluate):
        asks = one_policy("request.subResource == 'scale'")

        assert verdicts(evaluate("--subresource", "scale", policy=asks, object=OBJECT)) == ["allow"]

    def test_several_objects_find_their_old_ones(self, evaluate):
        other = OBJECT.replace("web", "api")

        result = evaluate(
            policy=one_policy("object.metadata.name == oldObject.metadata.name"),
            object=f"{OBJECT}---\n{other}",
            old=f"{other}---\n{OBJECT}",
        )

        assert [(item["object"], item["verdict"]) for item in result.report["results"]] == [
            ("Deployment/shop/web", "allow"),
            ("Deployment/shop/api", "allow"),
        ]


class TestParams:
    LIMIT = "{apiVersion: v1, kind: ConfigMap, metadata: {name: limit, namespace: shop}, data: {max: '3'}}"
    ASKS = one_policy(
        "object.spec.replicas <= int(params.data.max)", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}
    )

    def test_with_an_implied_binding_each_parameter_counts(self, evaluate):
        result = evaluate(
            policy=self.ASKS,
            object=OBJECT,
            params=f"{self.LIMIT}\n---\n{self.LIMIT.replace('limit', 'more').replace('3', '9')}",
        )

        assert [(item["params"], item["verdict"]) for item in result.report["results"]] == [
            ("limit", "deny"),
            ("more", "allow"),
        ]

    def test_without_parameters_params_is_null(self, evaluate):
        asks = one_policy("params == null", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})

        assert verdicts(evaluate(policy=asks, object=OBJECT)) == ["allow"]

    def test_a_binding_names_its_parameter(self, evaluate):
        reference = "paramRef: {name: limit, parameterNotFoundAction: Deny}"
        named = BINDING.replace("policyName: replicas", f"policyName: p, {reference}")

        found = evaluate(policy=f"{self.ASKS}\n{named}", object=OBJECT, params=self.LIMIT)
        missing = evaluate(policy=f"{self.ASKS}\n{named}", object=OBJECT)
        allowed = evaluate(policy=f"{self.ASKS}\n{named.replace('Action: Deny', 'Action: Allow')}", object=OBJECT)

        assert verdicts(found) == ["deny"]
        assert (verdicts(missing), missing.report["results"][0]["message"]) == (
            ["error"],
            "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
        )
        assert (verdicts(allowed), allowed.code) == ([], 0)

    @pytest.mark.parametrize(
        ("params", "why"),
        [
            ("{apiVersion: v1, kind: Secret, metadata: {name: limit}}", "no policy has `paramKind` v1 Secret"),
            ("{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: shop}}", "takes `limit`"),
            ("{apiVersion: v1, kind: ConfigMap, metadata: {name: limit, namespace: other}}", "takes `limit`"),
        ],
    )
    def test_a_parameter_that_no_binding_takes_is_told(self, evaluate, params, why):
        reference = "paramRef: {name: limit, parameterNotFoundAction: Deny}"
        named = BINDING.replace("policyName: replicas", f"policyName: p, {reference}")

        found = evaluate(policy=f"{self.ASKS}\n{named}", object=OBJECT, params=f"{params}\n---\n{self.LIMIT}")

        (note,) = found.report["notes"]
        assert "nothing was evaluated" in note
        assert why in note

    def test_a_parameter_of_the_implied_binding_is_used(self, evaluate):
        found = evaluate(policy=self.ASKS, object=OBJECT, params=self.LIMIT)

        assert not [note for note in found.report["notes"] if "nothing was evaluated" in note]


def test_the_reason_at_the_end_of_a_long_message_is_shown(evaluate):
    reason = "and so the pod is refused"
    long = one_policy("false", validations=[{"expression": "false", "message": f"{'a word ' * 200}{reason}"}])
    failing = one_policy(" || ".join(["object.metadata.name == 'x'"] * 40) + " || object.nothing == 1")
    longest = one_policy("false || " * 4000 + "object.nothing == 1")

    assert reason in evaluate(policy=long, object=OBJECT, form="text").out
    assert "no such key: nothing" in evaluate(policy=failing, object=OBJECT, form="text").out
    assert "no such key: nothing" in evaluate(policy=longest, object=OBJECT, form="text").out


class TestKinds:
    WIDGET = "{apiVersion: example.com/v1, kind: Octopus, metadata: {name: a}, spec: {arms: 8}}"
    ASKS = one_policy("object.spec.arms == 8").replace('["*/*"]', '["octopodes"]')

    def test_a_kind_that_nobody_knows_is_said(self, evaluate):
        result = evaluate(policy=one_policy("object.spec.arms == 8"), object=self.WIDGET)

        assert verdicts(result) == ["allow"]
        assert "its resource is taken to be `octopuses`" in result.report["notes"][0]

    def test_a_resource_that_may_be_its_own_is_not_decided(self, evaluate):
        result = evaluate(policy=self.ASKS, object=self.WIDGET)

        assert (result.code, verdicts(result)) == (1, ["notEvaluated"])

    def test_a_definition_or_a_flag_tells_the_resource(self, evaluate):
        definition = json.dumps(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "octopodes.example.com"},
                "spec": {
                    "group": "example.com",
                    "scope": "Namespaced",
                    "names": {"kind": "Octopus", "plural": "octopodes"},
                    "versions": [{"name": "v1", "served": True}],
                },
            }
        )

        assert verdicts(evaluate(policy=f"{self.ASKS}\n---\n{definition}", object=self.WIDGET)) == ["allow"]
        assert verdicts(evaluate("--resource", "octopodes", policy=self.ASKS, object=self.WIDGET)) == ["allow"]


class TestFiles:
    def test_a_folder_stands_for_its_policies(self, run_cli, write_files):
        root = write_files({"p/a.yaml": POLICY, "p/b.yaml": BINDING, "p/a.test.yaml": "a: [", "o.yaml": OBJECT})

        result = run_cli(["policy", "eval", "--policy", "p", "--object", "o.yaml", "--format", "json"], cwd=root)

        assert [(item["binding"], item["verdict"]) for item in result.report["results"]] == [
            ("everywhere", "deny"),
            ("everywhere", "allow"),
        ]

    def test_flags_that_do_not_go_together(self, evaluate):
        assert evaluate(policy=POLICY).code == 2
        assert evaluate("--group", "a", policy=POLICY, object=OBJECT).code == 2
        assert evaluate("--kubernetes", "2.1", policy=POLICY, object=OBJECT).code == 2
        assert evaluate("--operation", "PATCH", policy=POLICY, object=OBJECT).code == 2
        assert evaluate(policy=OBJECT, object=OBJECT).code == 2

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("a: [", "PSM002"),
            ("# nothing\n", "PSM005"),
            ("[]\n", None),
            ("kind: ValidatingAdmissionPolicy\n", "PSM610"),
        ],
    )
    def test_a_file_that_can_not_be_read_is_said(self, evaluate, text, code):
        result = evaluate(policy=text, object=OBJECT)

        assert result.code in (1, 2)
        if result.code == 1 and code:
            assert result.diagnostics
            assert result.report["allowed"] is not True

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[]", "the file holds"),
            ("text", "the object lacks `kind`"),
            ("{kind: Pod}", "the object lacks `apiVersion`"),
            ("{apiVersion: v1, kind: [Pod]}", "the object lacks `kind`"),
        ],
    )
    def test_an_object_that_is_none_is_said(self, evaluate, text, message):
        result = evaluate(policy=POLICY, object=text)

        assert (result.code, result.report["allowed"], result.report["decisions"]) == (1, None, [])
        assert any(message in item["message"] for item in result.diagnostics)

    def test_a_broken_policy_is_not_evaluated(self, evaluate):
        result = evaluate(policy=POLICY.replace("validations:", "validations: none\n  x:"), object=OBJECT)

        assert (result.code, verdicts(result), result.report["allowed"]) == (1, ["notEvaluated"], None)

    def test_a_mutating_policy_is_refused(self, evaluate):
        result = evaluate(policy=POLICY.replace("kind: Validating", "kind: Mutating"), object=OBJECT)

        assert (result.code, [item["code"] for item in result.diagnostics]) == (1, ["PSM616"])

    def test_fields_that_the_api_server_fills_in_are_said(self, evaluate):
        result = evaluate(policy=one_policy("object.spec.strategy.type == 'Recreate'"), object=OBJECT)

        assert any("depends on defaulting" in note for note in result.report["notes"])

    @pytest.mark.parametrize(
        ("version", "kubernetes", "served"), [("v1", "1.34", True), ("v1beta1", "1.34", False), ("v1", "1.29", False)]
    )
    def test_a_version_that_is_not_served_is_said(self, evaluate, version, kubernetes, served):
        result = evaluate(
            "--kubernetes", kubernetes, policy=POLICY.replace("k8s.io/v1", f"k8s.io/{version}"), object=OBJECT
        )

        assert any("does not serve policies" in note for note in result.report["notes"]) is not served
        assert verdicts(result) == ["deny", "allow"]


class TestText:
    def test_what_can_not_be_read_is_no_pass(self, evaluate):
        result = evaluate(form="text", policy=POLICY + "---\na: [", object=OBJECT.replace("5", "2"))

        assert result.code == 1
        assert "=> not decided: something is wrong in a file" in result.out

    def test_for_people(self, evaluate):
        result = evaluate(form="text", policy=POLICY + BINDING, object=OBJECT)

        assert "Deployment/shop/web: CREATE\n" in result.out
        assert "deny           replicas / everywhere, validation 0: Deny: at most 3, not 5" in result.out
        assert "=> denied (Forbidden, 403): at most 3, not 5" in result.out

    @pytest.mark.parametrize("form", ["text", "json"])
    def test_messages_can_not_steer_a_terminal(self, evaluate, form):
        message = "'\\u001b[31mred\\u0007 <script>alert(1)</script> [x](http://y)'"
        asks = one_policy("false", validations=[{"expression": "false", "messageExpression": message}])

        result = evaluate(form=form, policy=asks, object=OBJECT)

        assert "\x1b" not in result.out
        assert "\x07" not in result.out


def test_the_uid_and_whatever_else_is_known_of_the_user_can_be_said(evaluate):
    expression = (
        "request.userInfo.uid == '7' && request.userInfo.extra['example.com/team'] == ['a', 'b'] "
        "&& request.userInfo.extra['x'] == ['']"
    )
    who = (
        "--user",
        "jane",
        "--uid",
        "7",
        "--extra",
        "example.com/team=a",
        "--extra",
        "example.com/team=b",
        "--extra",
        "x=",
    )
    policy = one_policy(expression)

    assert evaluate(*who, policy=policy, object=OBJECT).report["allowed"] is True
    assert evaluate(*who[:4], policy=policy, object=OBJECT).report["allowed"] is False
    assert evaluate("--uid", "7", policy=policy, object=OBJECT).code == 2
    assert "KEY=VALUE" in evaluate("--user", "jane", "--extra", "team", policy=policy, object=OBJECT).err


def test_a_parameter_that_no_binding_names_is_told(evaluate):
    policy = POLICY.replace("  validations:", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations:")
    reference = "{name: used, namespace: shop, parameterNotFoundAction: Deny}"
    binding = BINDING.replace("[Deny]}", f"[Deny], paramRef: {reference}}}")
    params = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n"
        for name in ("used", "spare")
    )
    notes = evaluate(policy=policy + binding, params=params, object=OBJECT).report["notes"]

    assert [note for note in notes if "nothing was evaluated with this parameter" in note] == [
        "ConfigMap/spare: nothing was evaluated with this parameter, since binding `everywhere` takes `used` in namespace `shop`"
    ]


def test_the_reason_of_a_long_expression_is_shown(evaluate):
    long = " && ".join(f"object.metadata.name != 'name-{number:03}'" for number in range(40))
    out = evaluate(policy=one_policy(f"{long} && object.spec.nothing == 1"), object=OBJECT, form="text").out

    assert "no such key: nothing" in out
