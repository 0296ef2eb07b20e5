"""What the API server does with a policy, fact by fact, in the order in which a request meets it.

Where the facts stand that are asked here only in part (each of these modules compares with Kubernetes' own evaluator or
names the field that is refused):

| facts | module |
| --- | --- |
| what does not compile; failurePolicy; match conditions; variables; messages; audit annotations of one binding | test_decisions |
| resourceRules, selectors, scope, subresources, names, matchPolicy; what narrows | test_recorded_matching, test_matching |
| fields, entries and limits of policies and bindings | test_reading |
| paramRef by name and by selector; where parameters lie | test_matching |
| the request: operations, users, namespaces that are not known | test_policy_eval |
| what Go types make of an object; quantities | test_normalise, test_quantity |
| fields that depend on defaulting | test_defaulting, test_reads |
| the pod of a workload, seen by policies on pods | test_pods, test_admission_check |
| work without end, memory, texts that steer a terminal | test_policy_process, ../hostile/test_policies |
| CEL itself | ../cel/test_checklist |
"""

from __future__ import annotations

import json
import re

import pytest

from poolsmith.interface.app.policy_eval import EvalFlags, policy_eval
from poolsmith.kubernetes.cel import engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")

API = "admissionregistration.k8s.io/v1"
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"replicas": 5, "template": {"spec": {"containers": [{"name": "main", "image": "nginx"}]}}},
}
SHOP = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "prod"}}}
ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}


def rules(*resources, **parts):
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": list(resources or ["*/*"])}
    return {"resourceRules": [rule | parts]}


def policy(*validations, name="p", match=None, **spec):
    """Validations are expressions, or whole entries."""
    entries = [item if isinstance(item, dict) else {"expression": item} for item in validations]
    spec = {"matchConstraints": rules() | (match or {}), "validations": entries, **spec}
    return {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec}


def binding(*actions, name="b", to="p", **spec):
    spec = {"policyName": to, "validationActions": list(actions or ["Deny"]), **spec}
    return {"apiVersion": API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": spec}


def config(name, namespace="shop", labels=None, **data):
    return CONFIG_MAPS | {"metadata": {"name": name, "namespace": namespace, "labels": labels or {}}, "data": data}


def variables(**expressions):
    return [{"name": name, "expression": text} for name, text in expressions.items()]


@pytest.fixture
def ask(tmp_path):
    """What policies and bindings say of an object; `old`, `params` and `namespaces` are lists of objects."""

    def written(name, objects):
        if not objects:
            return ()
        path = tmp_path / f"{name}.yaml"
        path.write_text("\n---\n".join(map(json.dumps, objects)))
        return (path,)

    def run(*policies, body=WEB, old=(), params=(), namespaces=(SHOP,), **flags):
        return policy_eval(
            EvalFlags(
                policies=written("policies", policies),
                objects=written("objects", [] if body is None else [body]),
                old=written("old", old),
                params=written("params", params),
                namespaces=written("namespaces", namespaces),
                **flags,
            )
        )

    return run


@pytest.fixture
def verdict(ask):
    """The verdict of the first validation, or None where the policy is not meant for the request."""

    def run(expression, *more, match=None, spec=None, **asked):
        found = results(ask(policy(expression, match=match, **(spec or {})), *more, **asked))
        return str(found[0].verdict) if found else None

    return run


def results(answer):
    (decision,) = answer.decisions
    return decision.evaluation.results


def verdicts(answer):
    return [str(item.verdict) for item in results(answer)]


def codes(answer):
    return [item.code for item in answer.diagnostics]


def audit(answer):
    (decision,) = answer.decisions
    return {item.key: item.value for item in decision.evaluation.audit_annotations}


class TestWhatThePolicyMayHold:
    """Before any request: what the API server refuses, told at its field."""

    @pytest.mark.parametrize("expression", ["object.spec.paused", "object", "1", "'true'", "null", "optional.of(true)"])
    def test_a_validation_has_to_be_bool_exactly(self, ask, expression):
        assert codes(ask(policy(expression))) == ["PSM611"]

    def test_a_match_condition_has_to_be_bool_exactly(self, ask):
        assert codes(ask(policy("true", matchConditions=[{"name": "c", "expression": "object.a"}]))) == ["PSM611"]

    @pytest.mark.parametrize("expression", ["object.metadata.name", "1", "null"])
    def test_a_message_has_to_be_a_string(self, ask, expression):
        assert codes(ask(policy({"expression": "true", "messageExpression": expression}))) == ["PSM611"]

    def test_a_message_has_no_authorizer(self, ask):
        asks = "authorizer.path('/').check('get').reason()"

        assert codes(ask(policy({"expression": "true", "messageExpression": asks}))) == ["PSM611"]

    @pytest.mark.parametrize(
        ("expression", "wrong"),
        [("'x'", []), ("null", []), ("object.a", ["PSM611"]), ("has(object.a) ? object.a : null", ["PSM611"])],
    )
    def test_an_audit_annotation_has_to_be_a_string_or_null(self, ask, expression, wrong):
        assert codes(ask(policy("true", auditAnnotations=[{"key": "k", "valueExpression": expression}]))) == wrong

    @pytest.mark.parametrize(
        "expression",
        [
            "object.spec.replicas in [1, 'two']",
            "request.object == null",
            "request.userInfo.name == 'a'",
            "params == null",
            "variables.later",
            "variables.early + 1 == 2",
            "objekt == null",
        ],
    )
    def test_what_is_not_there_or_does_not_fit_is_told(self, ask, expression):
        asked = policy("true", variables=variables(early="'text'", used=expression, later="true"))

        assert codes(ask(asked)) == ["PSM611"]

    def test_params_are_there_with_a_param_kind(self, verdict):
        assert verdict("params == null", spec={"paramKind": CONFIG_MAPS}) == "allow"

    @pytest.mark.parametrize(
        ("minor", "severity", "stored"), [("1.33", "error", False), ("1.34", "warning", True), ("1.35", None, True)]
    )
    def test_new_policies_are_held_to_the_minor_before_and_stored_ones_are_not(self, ask, minor, severity, stored):
        """So that the cluster can go back. Lists are sorted from 1.34 on; ../rules/expression-too-new asks `check`."""
        answer = ask(policy("[2, 1].sort() == [1, 2]"), kubernetes=minor)

        assert [(item.code, item.severity) for item in answer.diagnostics] == (
            [("PSM612", severity)] if severity else []
        )
        assert all(f"needs Kubernetes 1.35, and this is {minor}" in item.message for item in answer.diagnostics)
        assert (verdicts(answer), answer.allowed) == ((["allow"], True) if stored else (["error"], False))

    def test_what_a_variable_uses_is_told_once_and_at_the_variable(self, ask):
        asked = policy("variables.a == [1]", "variables.a == [2]", variables=variables(a="[1].sort()"))

        assert [item.primary.pointer for item in ask(asked).diagnostics] == ["/spec/variables/0/expression"]


class TestFailurePolicy:
    def test_a_compile_error_spoils_its_own_validation_alone(self, ask):
        assert verdicts(ask(policy("object.spec", "true", "false"))) == ["error", "allow", "deny"]

    @pytest.mark.parametrize(("failure_policy", "denied"), [("Fail", True), ("Ignore", False), (None, True)])
    @pytest.mark.parametrize("expression", ["object.spec", "object.nothing == 1", "1 / 0 == 1"])
    def test_it_decides_what_becomes_of_an_error(self, ask, failure_policy, denied, expression):
        (found,) = results(ask(policy(expression, failurePolicy=failure_policy)))

        assert (found.verdict, found.denied) == ("error", denied)

    def test_a_false_result_denies_under_ignore_too(self, ask):
        assert ask(policy("object.nothing == 1", "false", failurePolicy="Ignore")).allowed is False


class TestMatchConditions:
    @pytest.mark.parametrize("conditions", [("object.nothing == 1", "false"), ("false", "object.nothing == 1")])
    @pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
    def test_a_false_one_wins_over_any_error(self, verdict, conditions, failure_policy):
        named = [{"name": f"c{index}", "expression": text} for index, text in enumerate(conditions)]

        assert verdict("false", spec={"matchConditions": named, "failurePolicy": failure_policy}) is None

    @pytest.mark.parametrize(("failure_policy", "expected"), [("Fail", "error"), ("Ignore", None)])
    def test_else_an_error_denies_or_skips(self, verdict, failure_policy, expected):
        named = [{"name": "c", "expression": "object.nothing == 1"}]

        assert verdict("true", spec={"matchConditions": named, "failurePolicy": failure_policy}) == expected

    def test_they_may_use_variables_and_params(self, verdict):
        named = [{"name": "c", "expression": "variables.most == params.data.most"}]
        spec = {"matchConditions": named, "paramKind": CONFIG_MAPS}

        assert (
            verdict("false", spec=spec | {"variables": variables(most="'3'")}, params=[config("a", most="3")]) == "deny"
        )
        assert (
            verdict("false", spec=spec | {"variables": variables(most="'4'")}, params=[config("a", most="3")]) is None
        )


class TestVariables:
    def test_one_that_is_not_used_may_fail(self, verdict):
        assert verdict("true", spec={"variables": variables(a="object.nothing == 1", b="1 / 0")}) == "allow"

    def test_one_that_is_used_and_fails_is_an_error_unless_the_other_side_decides(self, verdict):
        spec = {"variables": variables(a="object.nothing == 1")}

        assert [
            verdict(text, spec=spec) for text in ("variables.a", "variables.a || true", "variables.a && false")
        ] == [
            "error",
            "allow",
            "deny",
        ]

    def test_each_is_evaluated_once(self, verdict):
        """Sixty that each read the one before twice: evaluated anew each time, they would never end."""
        chain = {"v0": "object.spec.replicas == 5"}
        chain |= {f"v{index}": f"variables.v{index - 1} && variables.v{index - 1}" for index in range(1, 60)}

        assert verdict("variables.v59", spec={"variables": variables(**chain)}) == "allow"


class TestTheResponse:
    def test_all_validations_run_and_the_first_denial_of_the_first_policy_is_told(self, ask):
        first = policy("true", {"expression": "false", "message": "one"}, {"expression": "false", "message": "two"})
        second = policy({"expression": "false", "message": "three"}, name="q")

        answer = ask(first, second)

        assert verdicts(answer) == ["allow", "deny", "deny", "deny"]
        assert answer.decisions[0].evaluation.denial.message == "one"

    def test_a_denial_is_told_and_not_the_warning_before_it(self, ask):
        asked = [policy({"expression": "false", "message": name}, name=name) for name in ("warned", "denied")]

        answer = ask(*asked, binding("Warn", to="warned"), binding("Deny", name="c", to="denied"))

        assert answer.decisions[0].evaluation.denial.message == "denied"

    @pytest.mark.parametrize(
        ("reason", "code"),
        [(None, 422), ("Invalid", 422), ("Unauthorized", 401), ("Forbidden", 403), ("RequestEntityTooLarge", 413)],
    )
    def test_a_reason_has_its_code_and_the_default_is_invalid(self, ask, reason, code):
        (found,) = results(ask(policy({"expression": "false"} | ({"reason": reason} if reason else {}))))

        assert (found.reason, found.code) == (reason or "Invalid", code)

    @pytest.mark.parametrize(
        ("expression", "said"),
        [
            ("'got ' + string(object.spec.replicas)", "got 5"),
            ("'  trimmed \\n'", "trimmed"),
            ("'" + "x" * 5120 + "'", "x" * 5120),
            ("'" + "x" * 5121 + "'", "plain"),
            ("'\u00e9" + "x" * 5119 + "'", "plain"),
            ("'one\\ntwo'", "plain"),
            ("' \\t'", "plain"),
            ("string(object.nothing)", "plain"),
            ("objekt", "plain"),
            ("string(authorizer == null)", "plain"),
        ],
    )
    def test_a_message_is_one_line_of_five_kibibytes_or_else_the_plain_one(self, ask, expression, said):
        entry = {"expression": "false", "messageExpression": expression, "message": " plain "}

        assert results(ask(policy(entry)))[0].message == said

    def test_without_any_message_the_expression_is_told(self, ask):
        assert results(ask(policy(" 1 > 2 ")))[0].message == "failed expression: 1 > 2"


class TestAuditAnnotations:
    def annotated(self, expression, **spec):
        return policy("true", auditAnnotations=[{"key": "k", "valueExpression": expression}], **spec)

    @pytest.mark.parametrize("expression", ["null", "''", "' \\n'"])
    def test_null_and_blank_are_left_out(self, ask, expression):
        assert audit(ask(self.annotated(expression))) == {}

    @pytest.mark.parametrize(("failure_policy", "allowed"), [("Fail", False), ("Ignore", True)])
    def test_an_error_goes_by_the_failure_policy(self, ask, failure_policy, allowed):
        answer = ask(self.annotated("string(object.nothing)", failurePolicy=failure_policy))

        assert (answer.allowed, audit(answer)) == (allowed, {})

    def test_an_error_denies_whatever_the_bindings_actions_are(self, ask):
        assert ask(self.annotated("string(object.nothing)"), binding("Audit")).allowed is False

    def test_a_value_is_cut_at_ten_kibibytes(self, ask):
        body = WEB | {"metadata": {"name": "web", "namespace": "shop", "annotations": {"long": "x" * 20_000}}}

        assert audit(ask(self.annotated("object.metadata.annotations['long'] + ''"), body=body)) == {
            "p/k": "x" * 10_240
        }

    def test_values_of_several_bindings_are_joined_each_once(self, ask):
        asked = self.annotated("'at most ' + string(params.data.most)", paramKind=CONFIG_MAPS)
        bindings = [
            binding(name=f"b{index}", paramRef={"name": name, "parameterNotFoundAction": "Deny"})
            for index, name in enumerate(("a", "b", "a"))
        ]

        assert audit(ask(asked, *bindings, params=[config("a", most="3"), config("b", most="9")])) == {
            "p/k": "at most 3, at most 9"
        }


class TestBindings:
    @pytest.mark.parametrize(
        ("actions", "refused"),
        [
            (["Deny"], False),
            (["Warn"], False),
            (["Audit"], False),
            (["Deny", "Audit"], False),
            (["Warn", "Audit"], False),
            (["Deny", "Warn"], True),
            (["Deny", "Warn", "Audit"], True),
            (["Log"], True),
        ],
    )
    def test_actions_that_may_stand_together(self, ask, actions, refused):
        assert codes(ask(policy("true"), binding(*actions))) == (["PSM610"] if refused else [])

    @pytest.mark.parametrize(("action", "allowed"), [("Deny", False), ("Warn", True), ("Audit", True)])
    @pytest.mark.parametrize("expression", ["false", "object.nothing == 1"])
    def test_only_deny_denies(self, ask, action, allowed, expression):
        answer = ask(policy(expression), binding(action))

        assert (answer.allowed, results(answer)[0].action) == (allowed, action)

    @pytest.mark.parametrize("actions", [("Deny", "Audit"), ("Audit", "Deny")])
    def test_deny_denies_wherever_it_stands(self, ask, actions):
        answer = ask(policy("false"), binding(*actions))

        assert (answer.allowed, results(answer)[0].action) == (False, "Deny")

    def test_a_policy_without_a_binding_is_said_to_do_nothing(self, ask):
        assert ask(policy("true")).notes[0].startswith("`p`: no binding is given")
        assert ask(policy("true"), binding()).notes == ()

    def test_a_binding_narrows_and_never_widens(self, verdict):
        wide, narrow = rules(), rules("daemonsets")

        assert verdict("false", binding(matchResources=wide), match=wide) == "deny"
        assert verdict("false", binding(matchResources=narrow), match=wide) is None
        assert verdict("false", binding(matchResources=wide), match=narrow) is None


class TestParameters:
    ASKS = "object.spec.replicas <= int(params.data.most)"
    SPEC = {"paramKind": CONFIG_MAPS}  # noqa: RUF012

    def bound(self, action="Deny", **reference):
        return binding(paramRef=reference | {"parameterNotFoundAction": action})

    def test_name_and_selector_exclude_each_other(self, ask):
        answer = ask(policy(self.ASKS, **self.SPEC), self.bound(name="a", selector={}), params=[config("a", most="9")])

        assert codes(answer) == ["PSM610"]

    def test_each_that_a_selector_fits_is_one_evaluation_and_all_have_to_pass(self, ask):
        team = {"team": "x"}
        given = [config("a", labels=team, most="9"), config("b", labels=team, most="3"), config("c", most="1")]

        answer = ask(policy(self.ASKS, **self.SPEC), self.bound(selector={"matchLabels": team}), params=given)

        assert [(item.param, item.verdict) for item in results(answer)] == [("a", "allow"), ("b", "deny")]
        assert answer.allowed is False

    def test_the_namespace_is_the_objects_where_none_is_named(self, verdict):
        given = [config("a", "other", most="3"), config("a", "shop", most="9")]

        assert verdict(self.ASKS, self.bound(name="a"), spec=self.SPEC, params=given) == "allow"
        assert verdict(self.ASKS, self.bound(name="a", namespace="other"), spec=self.SPEC, params=given) == "deny"

    @pytest.mark.parametrize(
        ("action", "failure_policy", "found"),
        [("Allow", "Fail", None), ("Deny", "Fail", ("error", True)), ("Deny", "Ignore", ("error", False))],
    )
    def test_none_found_is_allowed_or_goes_by_the_failure_policy(self, ask, action, failure_policy, found):
        asked = policy("true", failurePolicy=failure_policy, **self.SPEC)

        answer = ask(asked, self.bound(action, name="a"))

        assert [(str(item.verdict), item.denied) for item in results(answer)] == ([found] if found else [])
        assert answer.allowed is not (found == ("error", True))

    def test_none_found_denies_whatever_the_bindings_actions_are(self, ask):
        reference = {"name": "a", "parameterNotFoundAction": "Deny"}

        assert ask(policy("true", **self.SPEC), binding("Warn", paramRef=reference)).allowed is False

    def test_params_are_null_without_a_param_ref(self, verdict):
        assert verdict("params == null", binding(), spec=self.SPEC, params=[config("a")]) == "allow"


class TestMatchConstraints:
    @pytest.mark.rows(5, "a row takes 0.1 s; each value of each column is seen first")
    @pytest.mark.parametrize(
        ("resource", "subresource", "meant"),
        [
            ("deployments", "", True),
            ("deployments", "scale", False),
            ("deployments/scale", "scale", True),
            ("deployments/scale", "", False),
            ("deployments/*", "", True),
            ("deployments/*", "scale", True),
            ("*/scale", "scale", True),
            ("*/scale", "", False),
            ("*", "", True),
            ("*", "scale", False),
            ("*/*", "scale", True),
            ("daemonsets", "", False),
        ],
    )
    def test_resources_and_subresources(self, verdict, resource, subresource, meant):
        found = verdict("false", match=rules(resource), subresource=subresource)

        assert found == ("deny" if meant else None)

    @pytest.mark.parametrize(
        ("match", "meant"),
        [
            (rules(resourceNames=["web"]), True),
            (rules(resourceNames=["api"]), False),
            (rules(scope="Namespaced"), True),
            (rules(scope="Cluster"), False),
            ({"excludeResourceRules": rules("deployments")["resourceRules"]}, False),
            ({"namespaceSelector": {"matchLabels": {"env": "prod"}}}, True),
            ({"namespaceSelector": {"matchLabels": {"env": "dev"}}}, False),
            ({"objectSelector": {"matchLabels": {"app": "web"}}}, True),
            ({"objectSelector": {"matchLabels": {"app": "api"}}}, False),
        ],
    )
    def test_names_scope_exclusions_and_selectors(self, verdict, match, meant):
        assert verdict("false", match=match) == ("deny" if meant else None)

    def test_an_object_selector_fits_the_old_object_as_well(self, verdict):
        old = WEB | {"metadata": {"name": "web", "namespace": "shop", "labels": {"app": "old"}}}

        assert verdict("false", match={"objectSelector": {"matchLabels": {"app": "old"}}}, old=[old]) == "deny"

    @pytest.mark.parametrize(
        ("how", "expected"), [("Equivalent", "notEvaluated"), (None, "notEvaluated"), ("Exact", None)]
    )
    def test_what_would_be_converted_to_another_version_is_not_evaluated(self, verdict, how, expected):
        scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}}
        match = rules("horizontalpodautoscalers", apiVersions=["v1"]) | {"matchPolicy": how}

        assert verdict("false", match=match, body=scaler) == expected

    @pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
    def test_a_rule_for_pods_does_not_see_what_makes_pods(self, ask, kind):
        answer = ask(policy("false", match=rules("pods")), body=WEB | {"kind": kind})

        assert results(answer) == ()
        assert [item.why for item in answer.decisions[0].evaluation.not_matched] == ["resourceRules"]


class TestObjectsAndRequest:
    @pytest.mark.parametrize(
        ("operation", "expression"),
        [
            ("CREATE", "oldObject == null && object != null"),
            ("UPDATE", "oldObject != null && object != null"),
            ("DELETE", "oldObject != null && object == null"),
        ],
    )
    def test_which_of_them_are_null(self, verdict, operation, expression):
        assert verdict(expression, operation=operation, old=[WEB]) == "allow"

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("has(oldObject.spec)", "deny"),
            ("oldObject.?spec.hasValue()", "deny"),
            ("oldObject.spec == null", "error"),
        ],
    )
    def test_a_field_of_null(self, verdict, expression, expected):
        assert verdict(expression) == expected

    @pytest.mark.rows(3, "a row takes 0.2 s; each value of each column is seen first")
    @pytest.mark.parametrize(
        ("part", "there"),
        [
            ("request.subResource", False),
            ("request.requestSubResource", False),
            ("request.userInfo.uid", False),
            ("request.userInfo.extra", False),
            ("request.userInfo.username", True),
            ("request.name", True),
            ("request.namespace", True),
        ],
    )
    def test_empty_parts_of_the_request_are_absent(self, ask, verdict, part, there):
        assert verdict(f"has({part})", user="jane") == ("allow" if there else "deny")
        if not there:
            (found,) = results(ask(policy(f"dyn({part}) == ''"), user="jane"))
            assert found.message.endswith(f"no such key: {part.rpartition('.')[2]}")

    def test_options_are_there_and_null(self, verdict):
        assert verdict("has(request.options) && request.options == null") == "allow"

    def test_a_cluster_wide_object_has_no_namespace(self, verdict):
        assert verdict("namespaceObject == null && !has(request.namespace)", body=ROLE) == "allow"

    def test_a_namespace_has_none_either(self, verdict):
        assert verdict("namespaceObject == null && request.namespace == 'shop'", body=SHOP) == "allow"

    @pytest.mark.parametrize("field", ["labels", "annotations"])
    def test_empty_parts_of_the_namespace_are_absent(self, verdict, field):
        empty = [SHOP | {"metadata": {"name": "shop", "labels": {}, "annotations": {}}}]

        assert verdict(f"has(namespaceObject.metadata.{field})", namespaces=empty) == "deny"
        assert verdict(f"'x' in namespaceObject.metadata.{field}", namespaces=empty) == "error"


class TestLimits:
    """The API server counts costs. Here steps, time and memory are bounded, and what passes them is no pass."""

    def test_too_many_steps_are_not_evaluated(self, verdict):
        body = {"apiVersion": "example.com/v1", "kind": "Many", "metadata": {"name": "a"}, "spec": [1] * 20_000}

        assert verdict("object.spec.all(x, x == 1)", body=body) == "notEvaluated"


def native(**pod):
    return WEB | {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "a"}]} | pod}}}


class TestTheObjectInTheCluster:
    POD = "object.spec.template.spec"

    @pytest.mark.parametrize(
        ("pod", "field", "stays"),
        [
            ({"hostNetwork": False}, "hostNetwork", False),
            ({"nodeName": ""}, "nodeName", False),
            ({"tolerations": []}, "tolerations", False),
            ({"nodeSelector": {}}, "nodeSelector", False),
            ({"volumes": None}, "volumes", False),
            ({"hostUsers": False}, "hostUsers", True),
            ({"securityContext": {}}, "securityContext", True),
            ({"affinity": {}}, "affinity", True),
        ],
    )
    def test_empty_values_of_native_kinds_vanish_and_pointers_stay(self, verdict, pod, field, stays):
        assert verdict(f"has({self.POD}.{field})", body=native(**pod)) == ("allow" if stays else "deny")

    @pytest.mark.parametrize(
        ("written", "canonical"), [("1000m", "1"), (1, "1"), (0.5, "500m"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi")]
    )
    def test_quantities_become_canonical_strings(self, verdict, written, canonical):
        containers = [{"name": "main", "image": "a", "resources": {"limits": {"cpu": written}}}]
        expression = f"{self.POD}.containers[0].resources.limits.cpu == '{canonical}'"

        assert verdict(expression, body=native(containers=containers)) == "allow"

    def test_status_appears(self, verdict):
        assert verdict("has(object.status)") == "allow"

    def test_custom_resources_stay_as_they_are_written(self, verdict):
        spec = {"off": False, "empty": {}, "none": [], "text": "", "cpu": "1000m"}
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec}

        assert (
            verdict("object.spec.size() == 5 && object.spec.cpu == '1000m' && !has(object.status)", body=body)
            == "allow"
        )

    @pytest.mark.parametrize(
        ("expression", "told"),
        [("object.spec.strategy.type == 'Recreate'", True), ("object.metadata.name == 'web'", False)],
    )
    def test_reading_what_the_api_server_fills_in_is_told(self, ask, expression, told):
        assert any("depends on defaulting" in note for note in ask(policy(expression), binding()).notes) is told


class TestTheVerb:
    """`policy eval`: its JSON and its exit codes; `check --pod-security`: flags that make no sense."""

    KEYS = ("policy", "binding", "validation", "verdict", "action", "message")

    @pytest.fixture
    def run(self, run_cli, write_files):
        def run(asked, *flags, body=WEB, form="json"):
            texts = {"p.yaml": "\n---\n".join(map(json.dumps, asked)), "o.yaml": json.dumps(body)}
            root = write_files(texts)
            return run_cli(
                ["policy", "eval", "--policy", "p.yaml", "--object", "o.yaml", "--format", form, *flags], root
            )

        return run

    def test_the_shape_of_a_result(self, run):
        asked = policy(
            "true", {"expression": "false", "message": "no"}, "object.nothing == 1", "request.userInfo.username == 'a'"
        )

        report = run([asked, binding()]).report

        assert report["version"] == 1
        assert [[item[key] for key in self.KEYS] for item in report["results"]] == [
            ["p", "b", 0, "allow", None, ""],
            ["p", "b", 1, "deny", "Deny", "no"],
            [
                "p",
                "b",
                2,
                "error",
                "Deny",
                "expression 'object.nothing == 1' resulted in error: no such key: nothing",
            ],
            ["p", "b", 3, "notEvaluated", None, "who sends the request is not known here: it reads `request.userInfo`"],
        ]

    def test_the_shape_where_the_whole_policy_is_meant(self, run):
        conditions = [{"name": "c", "expression": "object.nothing == 1"}]

        (found,) = run([policy("true", matchConditions=conditions)]).report["results"]

        assert [found[key] for key in self.KEYS[:5]] == ["p", None, None, "error", "Deny"]

    @pytest.mark.rows(8, "a row takes 0.063 s; each value of each column is seen first")
    @pytest.mark.parametrize(
        ("asked", "flags", "code"),
        [
            ([policy("true")], (), 0),
            ([policy("false"), binding("Warn")], (), 0),
            ([policy("false"), binding("Audit")], (), 0),
            ([policy("false", match=rules("pods"))], (), 0),
            ([policy("object.nothing == 1", failurePolicy="Ignore")], (), 0),
            ([policy("false")], (), 1),
            ([policy("object.nothing == 1")], (), 1),
            ([policy("request.userInfo.username == 'a'")], (), 1),
            ([policy("object.spec", failurePolicy="Ignore")], (), 1),
            ([policy("object.spec"), binding("Audit")], (), 1),
            ([policy("true", failurePolicy="Maybe")], (), 1),
            ([policy("true"), binding("Deny", "Warn")], (), 1),
            ([policy("true")], ("--object", "missing.yaml"), 1),
            ([policy("true")], ("--policy", "missing.yaml"), 1),
            ([WEB], (), 2),
            ([policy("true")], ("--kubernetes", "1.99"), 2),
            ([policy("true")], ("--operation", "PATCH"), 2),
            ([policy("true")], ("--group", "a"), 2),
            ([policy("true")], ("--no-such-flag",), 2),
            ([policy("true")], ("--format", "sarif"), 2),
        ],
    )
    def test_the_exit_code(self, run, asked, flags, code):
        assert run(asked, *flags).code == code

    @pytest.mark.parametrize("asked", [[policy("true")], [policy("false")], [policy("object.spec")]])
    def test_the_exit_code_is_that_of_every_form(self, run, asked):
        assert run(asked, form="text").code == run(asked, form="json").code

    @pytest.mark.parametrize(
        "standard",
        ["", "none", "Baseline", "baseline:", ":1.34", "baseline:x", "baseline:1", "restricted:1.34:2", "baseline:-1"],
    )
    def test_a_standard_that_is_none_is_refused(self, run_cli, write_files, standard):
        root = write_files({"o.yaml": json.dumps(WEB)})

        done = run_cli(["check", "o.yaml", "--pod-security", standard], cwd=root)

        assert (done.code, done.out) == (2, "")
        assert re.search("is no (level|version) of the Pod Security Standards", done.err)

    def test_a_standard_has_to_be_named(self, run_cli, write_files):
        root = write_files({"o.yaml": json.dumps(WEB)})

        assert run_cli(["check", "o.yaml", "--pod-security"], cwd=root).code == 2

    def test_a_standard_is_for_named_files(self, run_cli, sample_project):
        done = run_cli(["check", "--root", sample_project, "--pod-security", "baseline"])

        assert (done.code, "--pod-security is for PATHS" in done.err) == (2, True)
