"""Asks Kubernetes' own evaluator about many made-up policies: every part with sound, failing and unsound expressions.

    python tests/kubernetes/admission/record_policies.py /path/to/the/oracle

The policies stand beside the decisions in recorded/policies.json; all are asked about the objects of questions.py.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from kubernetes.admission.questions import CONFIG, DEPLOYMENT, NAMESPACE, policy

TARGET = Path(__file__).parent / "recorded/policies.json"
CASES = 160
CONDITIONS = (
    "true",
    "false",
    "object.spec.replicas > 3",
    "object.nothing == 1",
    "variables.va",
    "variables.vb == 2",
    "!variables.vc",
    "has(object.spec.paused)",
    "object.spec",
    "oldObject == null",
    "params.data.max == '3'",
    "params == null",
    "request.operation == 'CREATE'",
    "request.subResource == ''",
    "namespaceObject.metadata.name == 'shop'",
    "namespaceObject == null",
    "object.spec.template.spec.containers.all(c, c.image != 'x')",
    "object.spec.template.spec.containers.exists(c, c.none == 1)",
    "1/0 == 1 || variables.va",
    "variables.va && object.nothing.x",
    "[1,2][5] == 1",
    "'a' + 1 == 'a'",
    "object.metadata.labels['app'].startsWith('w')",
    "object.metadata.?labels['zz'].orValue('') == ''",
    "quantity('1Gi').isGreaterThan(quantity('1Mi'))",
    "request.userInfo.username == 'jane'",
    "string(object.spec.replicas) == '5'",
    "object.spec.replicas in [1,5]",
    "type(object.spec.replicas) == int",
    "variables.vd.size() == 1",
    "variables.missing",
    "oldObject.spec.replicas == 5",
    "has(oldObject.spec)",
    "dyn(object.spec.replicas) == 5.0",
)
TEXTS = (
    "'x'",
    "'a ' + string(object.spec.replicas)",
    "object.metadata.name",
    "string(object.metadata.name)",
    "'  '",
    "'one\\ntwo'",
    "string(object.nothing)",
    "variables.vs",
    "'n: ' + string(size(variables.vd))",
    "params.data.max + 'x'",
    "'%s and %d'.format([object.metadata.name, object.spec.replicas])",
    "null",
    "1",
    "namespaceObject.metadata.name + '!'",
    "request.name + '/' + request.namespace",
    "'a,b'.split(',')[1]",
)
VARIABLES = (
    ("va", "object.spec.replicas > 3"),
    ("vb", "1 + 1"),
    ("vc", "object.nothing"),
    ("vd", "object.spec.template.spec.containers.filter(c, c.name == 'main')"),
    ("vs", "'v ' + object.metadata.name"),
    ("vc", "variables.va"),
)
REASONS = ("Forbidden", "Invalid", "Unauthorized", "RequestEntityTooLarge")
draw = random.Random(34)


def validation():
    entry = {"expression": draw.choice(CONDITIONS)}
    if draw.random() < 0.3:
        entry["message"] = draw.choice(["plain", " padded "])
    if draw.random() < 0.5:
        entry["messageExpression"] = draw.choice(TEXTS)
    if draw.random() < 0.3:
        entry["reason"] = draw.choice(REASONS)
    return entry


def question():
    spec = {}
    variables = dict(draw.sample(VARIABLES, draw.randint(0, 6)))
    if variables:
        spec["variables"] = [{"name": name, "expression": text} for name, text in variables.items()]
    if draw.random() < 0.4:
        spec["failurePolicy"] = draw.choice(["Fail", "Ignore"])
    if draw.random() < 0.5:
        count = draw.randint(1, 3)
        spec["matchConditions"] = [
            {"name": f"c{index}", "expression": draw.choice(CONDITIONS)} for index in range(count)
        ]
    if draw.random() < 0.4:
        spec["auditAnnotations"] = [{"key": "k", "valueExpression": draw.choice(TEXTS)}]
    if draw.random() < 0.4:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    spec["validations"] = [validation() for _ in range(draw.randint(1, 3))]
    return {
        "spec": spec,
        "operation": draw.choice(["CREATE", "CREATE", "UPDATE", "DELETE"]),
        "user": draw.choice(["jane", "joe"]),
        "hasParams": "paramKind" in spec and draw.random() < 0.7,
    }


def asked_of(case):
    """The question in the form of questions.py."""
    operation = case["operation"]
    spec = {key: value for key, value in case["spec"].items() if key != "validations"}
    return {
        "policy": policy(*case["spec"]["validations"], **spec),
        "object": None if operation == "DELETE" else DEPLOYMENT,
        "oldObject": None if operation == "CREATE" else DEPLOYMENT,
        "operation": operation,
        "namespaceObject": NAMESPACE,
        "params": CONFIG if case["hasParams"] else None,
        "userInfo": {"Name": case["user"]},
    }


def main() -> None:
    cases = [question() for _ in range(CASES)]
    lines = [
        json.dumps(
            {"kubernetes": "1.34", "typed": True}
            | {key: value for key, value in asked_of(case).items() if value is not None}
        )
        for case in cases
    ]
    process = subprocess.run(sys.argv[1:2], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    for case, text in zip(cases, process.stdout.splitlines(), strict=True):
        answer = json.loads(text)
        case["answer"] = {key: answer[key] for key in ("matches", "decisions", "auditAnnotations") if key in answer}
    TARGET.write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
