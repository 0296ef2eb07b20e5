"""Asks Kubernetes' own evaluator which of many made-up policies and bindings are meant for which requests.

    python tests/kubernetes/admission/record_matching.py /path/to/the/oracle

The questions stand beside the answers in recorded/matching.json.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parent / "recorded/matching.json"
CASES, KEPT = 6_000, 240
KINDS = (
    ("apps/v1", "Deployment", True),
    ("v1", "Pod", True),
    ("v1", "Namespace", False),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", False),
    ("example.com/v1", "Widget", True),
)
RESOURCES = (
    ["pods"],
    ["deployments", "namespaces"],
    ["clusterroles", "widgets", "deployments"],
    ["*"],
    ["*/*"],
    ["pods/exec"],
    ["*/scale"],
    ["deployments/*"],
    ["deployments", "deployments/scale"],
)
draw = random.Random(34)


def some(words, most):
    return draw.sample(words, draw.randint(1, most))


def labels():
    return {key: draw.choice(["x1", "y1"]) for key in draw.sample(["a", "b", "c"], draw.randint(0, 3))}


def requirement():
    operator = draw.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    values = {"values": some(["x1", "y1", "z1"], 2)} if operator in ("In", "NotIn") else {}
    return {"key": draw.choice("abc"), "operator": operator} | values


def selector():
    parts = {}
    if draw.random() < 0.4:
        parts["matchLabels"] = labels()
    if draw.random() < 0.6:
        parts["matchExpressions"] = [requirement() for _ in range(draw.randint(1, 2))]
    return parts


def rule():
    parts = {
        "operations": draw.choice([["*"], some(["CREATE", "UPDATE", "DELETE", "CONNECT"], 3)]),
        "apiGroups": draw.choice([["*"], some(["", "apps", "rbac.authorization.k8s.io", "example.com"], 3)]),
        "apiVersions": draw.choice([["*"], ["v1"], ["v1"], ["v2"]]),
        "resources": draw.choice(RESOURCES),
    }
    if draw.random() < 0.3:
        parts["scope"] = draw.choice(["*", "Namespaced", "Cluster"])
    if draw.random() < 0.2:
        parts["resourceNames"] = some(["web", "shop", "other"], 2)
    return parts


def criteria():
    parts = {"resourceRules": [rule() for _ in range(draw.randint(1, 3))], "matchPolicy": "Exact"}
    if draw.random() < 0.3:
        parts["excludeResourceRules"] = [rule()]
    for field in ("namespaceSelector", "objectSelector"):
        if draw.random() < 0.4:
            parts[field] = selector()
    return parts


def body(api_version, kind, name, namespaced):
    metadata = {"name": name, **({"namespace": "shop"} if namespaced else {})}
    own = labels()
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata | ({"labels": own} if own else {})}


def question():
    api_version, kind, namespaced = draw.choice(KINDS)
    name, operation = draw.choice(["web", "shop"]), draw.choice(["CREATE", "UPDATE", "DELETE"])
    narrowed = criteria()
    if draw.random() < 0.5:
        narrowed.pop("resourceRules")
    asked = {
        "match": criteria(),
        "narrowed": narrowed if draw.random() < 0.6 else None,
        "operation": operation,
        "subresource": draw.choice(["scale", "exec"]) if draw.random() < 0.3 else "",
        "object": body(api_version, kind, name, namespaced) if operation != "DELETE" else None,
        "oldObject": body(api_version, kind, name, namespaced) if operation != "CREATE" else None,
    }
    if kind != "ClusterRole":
        asked["namespaceObject"] = body("v1", "Namespace", name if kind == "Namespace" else "shop", False)
        if kind == "Namespace" and asked["oldObject"] is not None:
            asked["oldObject"] = asked["namespaceObject"]
    return asked


def as_policy(asked):
    head = {"apiVersion": "admissionregistration.k8s.io/v1"}
    spec = {"matchConstraints": asked["match"], "validations": [{"expression": "false"}]}
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    if asked["narrowed"] is not None:
        bound["matchResources"] = asked["narrowed"]
    policy = head | {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    binding = head | {"kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": bound}
    return policy, binding


def line(asked):
    policy, binding = as_policy(asked)
    either = asked["object"] or asked["oldObject"]
    of_namespace = {"namespace": either["metadata"]["name"]} if either["kind"] == "Namespace" else {}
    sent = {key: asked.get(key) for key in ("operation", "subresource", "object", "oldObject", "namespaceObject")}
    parts = {"policy": policy, "bindings": [binding], "typed": False, "kubernetes": "1.34"} | of_namespace | sent
    return json.dumps({key: value for key, value in parts.items() if value is not None})


def main() -> None:
    asked = [question() for _ in range(CASES)]
    process = subprocess.run(
        sys.argv[1:2], input="\n".join(map(line, asked)) + "\n", capture_output=True, text=True, check=True
    )
    answers = [json.loads(text) for text in process.stdout.splitlines()]
    matched = [answer["matches"] and answer["bindings"]["b"] for answer in answers]
    yes = [index for index, is_meant in enumerate(matched) if is_meant][: KEPT // 2]
    no = [index for index, is_meant in enumerate(matched) if not is_meant][: KEPT // 2]
    cases = [asked[index] | {"matches": matched[index]} for index in sorted((*yes, *no))]
    TARGET.write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
