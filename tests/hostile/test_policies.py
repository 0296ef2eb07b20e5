"""Policies that were written to do harm: nothing runs for ever, nothing is executed, nothing steers a terminal."""

from __future__ import annotations

import json

import pytest

from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission_run.process import Budget
from poolsmith.kubernetes.admission_run.run import run_policies
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.kubernetes.objects_file import placed_objects
from support.circles import parameters

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")

OBJECT = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 5}}"
ITEMS = "[" + ",".join(map(str, range(200))) + "]"
PAYLOAD = "\\u001b]0;owned\\u0007\\u202e<img src=x onerror=alert(1)> [a](javascript:alert(1)) ::error::x | `$(id)`"


def policy(expression="true", **spec):
    rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]
    validations = [{"expression": expression, "message": "refused"}]
    return json.dumps(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "p"},
            "spec": {"matchConstraints": {"resourceRules": rules}, "validations": validations, **spec},
        }
    )


def growing(first, step):
    """Each variable is twice as large as the one before."""
    variables = [{"name": "v0", "expression": first}]
    variables += [{"name": f"v{index}", "expression": step.format(f"variables.v{index - 1}")} for index in range(1, 40)]
    return policy("variables.v39.size() == 0", variables=variables)


HOSTILE = {
    "10,000 nested brackets": policy("(" * 10_000 + "true" + ")" * 10_000),
    "10,000 nested lists": policy("[" * 10_000 + "]" * 10_000 + " == []"),
    "10,000 negations": policy("!" * 9_999 + "object.nothing"),
    "10,000 levels of fields": policy("object" + ".a" * 10_000 + " == 1"),
    "an expression of half a megabyte": policy(" || ".join(["object.a == 1"] * 40_000)),
    "loops in loops": policy(f"{ITEMS}.all(a, {ITEMS}.all(b, {ITEMS}.all(c, {ITEMS}.all(d, a + b + c + d >= 0))))"),
    "strings that double": growing("'xxxxxxxxxxxxxxxx'", "{0} + {0}"),
    "lists that double": growing("[1, 2, 3, 4]", "{0} + {0}"),
    "a pattern that explodes": policy("'" + "a" * 5_000 + "!'.matches('^(a+)+$')"),
    "a pattern that is huge": policy("'aa'.matches('((((a{1,1000}){1,1000}){1,1000}){1,1000})')"),
    "replacements that grow": policy(
        "'{0}'.replace('a', '{1}').replace('b', '{1}') == ''".format("a" * 1_000, "b" * 1_000)
    ),
    "2,000 validations": policy(validations=[{"expression": f"object.a{index} == 1"} for index in range(2_000)]),
    "a surrogate": policy("'\\ud800' == 'a'"),
    "a document of 10,000 levels": "spec: " + "[" * 10_000 + "]" * 10_000,
    "a selector of 10,000 labels": policy(
        "false", matchConstraints={"objectSelector": {"matchLabels": {f"k{i}": "v" for i in range(10_000)}}}
    ),
}


@pytest.fixture
def evaluate(run_cli, write_files):
    def run(form="json", **texts):
        root = write_files({f"{name}.yaml": text for name, text in texts.items()})
        files = [part for name in texts for part in (f"--{name}", f"{name}.yaml")]
        return run_cli(["policy", "eval", *files, "--format", form], cwd=root)

    return run


@pytest.mark.rows(3, "limits of each kind, waited for")
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_hostile_is_a_pass(evaluate, name):
    result = evaluate(policy=HOSTILE[name], object=OBJECT)

    assert result.err == ""
    assert "Traceback" not in result.out
    assert result.report["allowed"] is not True or not result.report["results"]
    assert result.code == (1 if result.report["results"] or result.diagnostics else 0)


@pytest.mark.parametrize("name", parameters(["loops in loops"], ["lists that double"]))
def test_the_others_are_evaluated_all_the_same(evaluate, name):
    other = policy("object.spec.replicas == 5").replace('"p"', '"other"')

    result = evaluate(policy=f"{HOSTILE[name]}\n---\n{other}", object=OBJECT)

    verdicts = {item["policy"]: item["verdict"] for item in result.report["results"]}
    assert verdicts == {"p": "notEvaluated", "other": "allow"}


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("where", ["message", "messageExpression", "name"])
def test_texts_can_not_steer_what_shows_them(evaluate, form, where):
    text = PAYLOAD.encode().decode("unicode_escape")
    if where == "name":
        asked = policy("false").replace('"p"', json.dumps(text))
    elif where == "message":
        asked = policy(validations=[{"expression": "false", "message": text}])
    else:
        asked = policy(validations=[{"expression": "false", "messageExpression": f"'{PAYLOAD}'"}])

    out = evaluate(form=form, policy=asked, object=OBJECT).out

    assert all(line.isprintable() for line in out.splitlines())
    assert not any(line.startswith("::") for line in out.splitlines())


def test_an_object_of_hostile_texts(evaluate):
    text = json.dumps(PAYLOAD.encode().decode("unicode_escape"))
    body = f'{{"apiVersion": {text}, "kind": {text}, "metadata": {{"name": {text}, "namespace": {text}}}}}'

    out = evaluate(form="text", policy=policy("false"), object=body).out

    assert all(line.isprintable() for line in out.splitlines())


@pytest.mark.parametrize(
    "body", ["[]", "text", "{kind: [], apiVersion: {}}", "{kind: Pod}", "{metadata: 3, spec: []}", "a: [", ""]
)
def test_objects_that_are_none(evaluate, body):
    result = evaluate(policy=policy("object.spec.x == 1"), object=body)

    assert result.code in (1, 2)
    assert "internal error" not in result.err


CODE = "__import__('os').system('touch owned')"


def test_no_text_is_ever_executed(evaluate, tmp_path):
    for text in (CODE, f"{{{{ {CODE} }}}}", "$(touch owned)", "`touch owned`", "%n%s%x"):
        asked = policy(validations=[{"expression": "false", "message": text}, {"expression": text}])
        evaluate(policy=asked, object=OBJECT)

    assert not list(tmp_path.rglob("owned"))


@pytest.mark.deep("limits are waited for, one after the other; each has a test of its own")
def test_check_says_of_hostile_policies_that_they_were_not_evaluated(project, write, run_cli):
    for index, name in enumerate(("loops in loops", "lists that double", "10,000 nested brackets")):
        text = HOSTILE[name].replace('"p"', f'"p{index}"')
        binding = (
            "\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
            f"metadata: {{name: b{index}}}\nspec: {{policyName: p{index}, validationActions: [Deny]}}\n"
        )
        write(f"policies/admission/p{index}.yaml", text + binding)
    write("policies/admission/deep.yaml", HOSTILE["a document of 10,000 levels"])

    result = run_cli(["check", "--root", project, "--jobs", "1", "--format", "json"])

    codes = {item["code"] for item in result.diagnostics}
    assert result.err == ""
    assert {"PSM904", "PSM611", "PSM010"} <= codes
    assert result.report["summary"]["notEvaluated"] > 0


def test_many_slow_cases_take_no_longer_than_the_budget_of_all(write_files, run_cli, monkeypatch):
    monkeypatch.setattr("poolsmith.interface.app.policy_test._SECONDS", 0.0)
    monkeypatch.setattr("poolsmith.interface.app.policy_test._SECONDS_OF_GROUP", 0.0)
    cases = ", ".join(
        f"{{name: c{index}, object: {OBJECT}, kubernetes: '1.3{index}', expect: {{verdict: allow}}}}"
        for index in range(5)
    )
    test = f"{{apiVersion: poolsmith/v1, kind: PolicyTest, metadata: {{name: a}}, spec: {{cases: [{cases}]}}}}"
    root = write_files({"a.yaml": HOSTILE["lists that double"], "a.test.yaml": test})

    result = run_cli(["policy", "test", root, "--format", "json"])

    failed = [item["message"] for item in result.diagnostics if item["code"] == "PSM631"]
    assert len(failed) == 5
    assert all("all policies together took more than 120 seconds" in message for message in failed)


def test_what_is_used_up_is_used_up_for_every_cluster():
    budget = Budget(0.0, each=0.0)
    policies, problems = read_policies(placed_objects("a.yaml", policy("true")), "1.34")
    with budget.limits() as limits:
        run = run_policies(policies, (), Resources("1.34"), limits=limits)

    assert not problems
    assert set(run.stopped) == {"p"}


def test_of_too_much_nothing_is_read_and_no_grant_holds(project, write, run_cli):
    for folder in ("admission", "privileges"):
        for index in range(5):
            write(f"policies/{folder}/{index}.yaml", "#" * (1 << 20))
    write("policies/privileges/a.yaml", "never: read\n")

    result = run_cli(["check", "--root", project, "--jobs", "1", "--format", "json"])

    found = {(item["name"], item["primary"]["path"]) for item in result.diagnostics}
    assert result.code == 1
    assert {("input-limit", "policies/admission"), ("input-limit", "policies/privileges")} <= found
    assert "ungranted-privilege" in {name for name, _ in found}


def test_of_too_many_policies_none_is_taken(project, write, run_cli):
    write(
        "policies/admission/a.yaml",
        "---\n".join(f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a{index}}}}}\n" for index in range(1_001)),
    )

    result = run_cli(["check", "--root", project, "--jobs", "1", "--format", "json"])

    assert ("input-limit", "policies/admission") in {
        (item["name"], item["primary"]["path"]) for item in result.diagnostics
    }


def test_no_line_is_a_command_of_a_build_server(evaluate, write_files, run_cli):
    body = "{apiVersion: v1, kind: '  ::error file=a', metadata: {name: ':x'}}"
    case = f"{{name: '::a', object: {OBJECT}, expect: {{verdict: allow}}}}"
    test = f"{{apiVersion: poolsmith/v1, kind: PolicyTest, metadata: {{name: a}}, spec: {{cases: [{case}]}}}}"

    evaluated = evaluate(form="text", policy=policy("false"), object=body).out
    root = write_files({"a.yaml": policy("true"), "::error title=b::c.test.yaml": test})
    tested = run_cli(["policy", "test", root, "--root", root], cwd=root).out

    assert "error file=a" in evaluated
    assert "error title=b" in tested
    assert not any(line.lstrip().startswith("::") for line in (evaluated + tested).splitlines())
