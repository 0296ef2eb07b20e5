"""What Kubernetes' own evaluator answered to each recorded expression is what ours answers, or says it cannot."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from poolsmith.kubernetes.cel import Bindings, CelCompileError, CelEnvironment, CelError, NotEvaluated, engine_problem

RECORDED = Path(__file__).parent / "recorded"
pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))

# What the engine cannot do; none of it is in any public policy that we know.
GAPS = {
    '"%s".format([timestamp("2020-01-01T00:00:00.5Z")])',
    "object.spec.l[?1.0].orValue(7)",
    'type(ip("1.1.1.1")) == net.IP',
    "type(ip('::1')) == net.IP",
    '"%s".format([int])',
    'string(timestamp("2020-01-01T00:00:00.5Z"))',
    'string(timestamp("2020-01-01T00:00:00+02:00"))',
    '{"a": 1, "a": 2}',
}
# Maps whose keys CEL does not know: an error here, a value there.
STRICTER = {"{null: 1}", "{1.0: 1}"}
# Later additions to a library: the recorder's cel-go has them for every version, the cel-go of these minors has not.
LATER = {"first": 34, "last": 34, "unwrapOpt": 33, "optional.unwrap": 33, "optFlatMap": 29}
# Of what nobody would write, so many are not evaluated.
MADE_UP = {"variables": 7}
DECIDING = ("bool", "string", "null_type")
OPAQUE = ("optional_type", "kubernetes.", "net.", "google.protobuf.", "type")


def request_of(one, old):
    manifest = one or old
    group, _, version = manifest["apiVersion"].rpartition("/")
    kind = {"group": group, "version": version, "kind": manifest["kind"]}
    resource = {"group": group, "version": version, "resource": manifest["kind"].lower() + "s"}
    named = {key: manifest["metadata"][key] for key in ("name", "namespace") if key in manifest["metadata"]}
    return {
        "uid": "",
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "operation": "DELETE" if one is None else "CREATE",
        "userInfo": {"username": "a", "groups": ["admins"]} if old is not None or "metadata" in manifest else {},
        "dryRun": False,
        "options": None,
        **named,
    }


def bindings_of(recorded, case):
    if "objects" not in recorded:
        request = {**request_of(recorded["object"], None), "userInfo": {}}
        return [Bindings(object=recorded["object"], old_object=None, request=request)]
    made = []
    for one in recorded["objects"]:
        old = recorded["objects"][1] if one is None else None
        namespace = recorded["namespace"] if (one or old)["metadata"].get("namespace") else None
        bindings = Bindings(object=one, old_object=old, request=request_of(one, old), namespace_object=namespace)
        made += [bindings.with_params(params) for params in (recorded["parameters"] if case["params"] else [None])]
    return made


def compiled(recorded, case):
    environment = CelEnvironment.of(case.get("kubernetes", recorded.get("kubernetes")))
    scope = environment.scope(params=case.get("params", False), authorizer=False)
    for variable in case.get("variables", []):
        scope = scope.with_variable(variable["name"], environment.compile(variable["expression"], scope))
    return environment.compile(case["expression"], scope)


def evaluated(expression, bindings):
    try:
        return {"type": expression.result_type, "value": expression.evaluate(bindings)}
    except CelError as error:
        return {"type": expression.result_type, "error": str(error)}


def same_value(kind, recorded, ours):
    if isinstance(ours, bytes | bytearray):
        return base64.b64decode(json.loads(recorded)) == bytes(ours)
    theirs = json.loads(recorded)
    if kind in ("int", "uint") and isinstance(theirs, str):
        theirs = int(theirs)
    return type(theirs is True) is type(ours is True) and theirs == ours


def cases(name):
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    return [(recorded, case) for case in recorded["cases"]]


def later_than(case):
    minor = int(case.get("kubernetes", "1.34").partition(".")[2])
    return any(word in case["expression"] and since > minor for word, since in LATER.items())


@pytest.mark.rows(2, "a row takes 0.36 s; each value of each column is seen first")
@pytest.mark.parametrize("name", ("expressions", "versions", "policies", "variables", "random"))
def test_every_recorded_answer_is_ours(name):
    different, not_evaluated = [], []
    for recorded, case in cases(name):
        if case["expression"] in STRICTER or later_than(case):
            continue
        try:
            expression = compiled(recorded, case)
        except CelCompileError as error:
            if not all("refused" in one for one in case["outcomes"]):
                different.append((case["expression"], case["outcomes"][0], str(error)))
            continue
        for theirs, bindings in zip(case["outcomes"], bindings_of(recorded, case), strict=True):
            if "value" in theirs and any(word in theirs["type"] for word in OPAQUE):
                continue
            try:
                ours = evaluated(expression, bindings)
            except NotEvaluated as reason:
                if theirs["type"] in DECIDING:
                    not_evaluated.append((case["expression"], str(reason)))
                continue
            if "value" in theirs and theirs["value"] == "<nil>":
                continue
            fits = set(ours) == set(theirs) and ours["type"] == theirs["type"]
            if not fits or ("value" in ours and not same_value(theirs["type"], theirs["value"], ours["value"])):
                different.append((case.get("kubernetes"), case["expression"], theirs, ours))
    assert not different
    unforeseen = [expression for expression, _ in not_evaluated if expression not in GAPS]
    assert len(unforeseen) <= MADE_UP.get(name, 0)


def test_errors_have_the_words_of_the_api_server():
    same = total = 0
    for recorded, case in cases("policies"):
        if "refused" in case["outcomes"][0]:
            continue
        expression = compiled(recorded, case)
        for theirs, bindings in zip(case["outcomes"], bindings_of(recorded, case), strict=True):
            if "error" in theirs:
                total += 1
                same += evaluated(expression, bindings).get("error") == theirs["error"]
    assert same / total > 0.95
