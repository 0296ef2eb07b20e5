"""poolsmith policy eval as somebody drives it who compares with a cluster."""

from __future__ import annotations

import json

import pytest

from poolsmith.kubernetes.cel import engine_problem

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")


def policy(name, expression, **spec):
    return json.dumps(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
                    ]
                },
                "validations": [{"expression": expression, "message": "no"}],
            }
            | spec,
        }
    )


def pod(name="web"):
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}})


@pytest.fixture
def evaluate(run_cli, write_files):
    """Run the verb on files with these texts; gives its exit code and what it said."""

    def run(*flags, **texts):
        root = write_files({f"{name}.yaml": text for name, text in texts.items()})
        done = run_cli(["policy", "eval", *flags, "--format", "json"], cwd=root)
        return done.code, json.loads(done.out) if done.out else None

    return run


@pytest.mark.parametrize(
    "flags",
    (
        ("--policy", "one.yaml", "two.yaml", "--object", "first.yaml", "second.yaml"),
        ("--policy", "one.yaml", "--policy", "two.yaml", "--object", "first.yaml", "--object", "second.yaml"),
        ("--policy=one.yaml", "two.yaml", "--object=first.yaml", "second.yaml"),
    ),
)
def test_several_files_may_follow_one_flag(evaluate, flags):
    texts = {"one": policy("one", "true"), "two": policy("two", "object.metadata.name == 'web'")}
    code, said = evaluate(*flags, **texts, first=pod(), second=pod("other"))

    assert code == 1
    assert [item["allowed"] for item in said["decisions"]] == [True, False]
    assert len(said["results"]) == 4


def test_a_value_that_no_flag_takes_is_refused(evaluate):
    texts = {"one": policy("one", "true"), "first": pod()}
    code, _ = evaluate("--policy", "one.yaml", "--object", "first.yaml", "--operation", "CREATE", "x", **texts)

    assert code == 2


def test_what_was_not_evaluated_is_counted(run_cli, write_files):
    root = write_files({"one.yaml": policy("one", "request.userInfo.username == 'x'"), "first.yaml": pod()})
    done = run_cli(["policy", "eval", "--policy", "one.yaml", "--object", "first.yaml"], cwd=root)

    assert (done.code, "1 not evaluated" in done.out) == (1, True)


@pytest.mark.parametrize(
    ("kind", "operation"), (("PodExecOptions", "CONNECT"), ("PodProxyOptions", "CONNECT"), ("Pod", "CREATE"))
)
def test_options_of_a_connection_are_sent_by_connect(evaluate, kind, operation):
    body = json.dumps({"apiVersion": "v1", "kind": kind, "metadata": {"namespace": "shop"}})
    texts = {"one": policy("one", "request.operation == 'CONNECT'"), "first": body}
    _, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", **texts)

    assert said["decisions"][0]["operation"] == operation
    assert said["results"][0]["verdict"] == ("allow" if operation == "CONNECT" else "deny")


def rules(*resources, operations=("CREATE", "UPDATE")):
    rule = {"operations": list(operations), "apiGroups": [""], "apiVersions": ["v1"], "resources": list(resources)}
    return {"resourceRules": [rule]}


def debugged():
    spec = {"containers": [{"name": "main", "image": "x"}], "ephemeralContainers": [{"name": "debug", "image": "y"}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "s"}, "spec": spec})


@pytest.mark.parametrize("resources", (("pods/ephemeralcontainers",), ("pods", "pods/ephemeralcontainers"), ("pods",)))
def test_ephemeral_containers_are_judged_by_each_policy_once(evaluate, resources):
    texts = {"one": policy("one", "!has(object.spec.ephemeralContainers)", matchConstraints=rules(*resources))}
    code, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", **texts, first=debugged())

    assert (code, said["allowed"], [item["verdict"] for item in said["results"]]) == (1, False, ["deny"])


def test_a_pod_without_ephemeral_containers_is_no_request_for_them(evaluate):
    texts = {"one": policy("one", "false", matchConstraints=rules("pods/ephemeralcontainers"))}
    code, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", **texts, first=pod())

    assert (code, said["allowed"], said["results"]) == (0, True, [])


def test_null_in_a_policy_is_as_good_as_absent(evaluate):
    body = json.loads(policy("one", "true", paramKind=None))
    body["metadata"]["creationTimestamp"] = None
    code, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", one=json.dumps(body), first=pod())

    assert (code, said["allowed"], said["diagnostics"]) == (0, True, [])


def test_what_new_policies_may_not_use_yet_is_a_warning_for_stored_ones(evaluate):
    texts = {"one": policy("one", "[1, 2].slice(0, 1) == [1]"), "first": pod()}
    code, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", "--kubernetes", "1.34", **texts)

    assert (code, said["allowed"], [item["severity"] for item in said["diagnostics"]]) == (0, True, ["warning"])


def test_what_a_cluster_does_not_have_is_an_error(evaluate):
    texts = {"one": policy("one", "[1, 2].slice(0, 1) == [1]"), "first": pod()}
    code, said = evaluate("--policy", "one.yaml", "--object", "first.yaml", "--kubernetes", "1.33", **texts)

    assert (code, said["allowed"], [item["severity"] for item in said["diagnostics"]]) == (1, False, ["error"])
