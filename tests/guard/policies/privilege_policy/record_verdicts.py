"""Ask Kubernetes' own policy evaluator about the predicted pods of the sample fleet, and changes of them.

    PYTHONPATH=generator:tests python tests/guard/policies/privilege_policy/record_verdicts.py PROGRAM [EVERY]

PROGRAM is built from tests/oracle/admission. EVERY how many-th change is asked for, 1 by default. What it says is
counted in recorded/verdicts.json; pods that it does not answer as it should are printed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded/verdicts.json"
EVALUATOR = "k8s.io/apiserver 0.34.1"
_AT_ONCE = 400


def expressions_digest(documents):
    """Of all that is the same for every cluster."""
    spec = documents[0]["spec"]
    data = ("accounts", "repositories", "identities", "forms")
    fixed = [item for item in spec["variables"] if not item["name"].rstrip("0123456789").startswith(data)]
    parts = (fixed, spec["matchConditions"], spec["validations"], spec["auditAnnotations"])
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def main():
    program, every = sys.argv[1], int((sys.argv[2:] or ["1"])[0])
    from guard.policies.privilege_policy import conftest as helpers

    clusters = {}
    for name in helpers.FLEET:
        clusters[name] = _cluster(program, helpers, helpers.predicted(name), every)
        print(name, clusters[name], flush=True)
    documents = (helpers.privilege_policy(helpers.predicted(helpers.FLEET[0]).table),)
    found = {
        "evaluator": EVALUATOR,
        "kubernetes": helpers.LOWEST,
        "everyChange": every,
        "expressions": expressions_digest(documents),
        "clusters": clusters,
        "situations": situations(program, helpers, helpers.predicted("prod-eu")),
    }
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(found, indent=2) + "\n")


def situations(program, helpers, cluster):
    """Requests other than the creation of a pod in its place, and what becomes of them."""
    pod = next(pod for name, pod in cluster.pods.items() if "gpu-driver" in name)
    foreign, labelled, image, debugged, elsewhere, annotated = (helpers.copied(pod) for _ in range(6))
    foreign["spec"]["hostIPC"] = labelled["spec"]["hostIPC"] = True
    labelled["metadata"]["finalizers"] = ["example.com/x"]
    image["spec"]["containers"][0]["image"] = "evil.example/driver:1"
    debugged["spec"]["ephemeralContainers"] = [{**helpers.pod_mutations.EVIL}]
    elsewhere["metadata"]["namespace"] = "default"
    annotated["metadata"]["annotations"] = {"devices.nri.io/pod": "x"}
    plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own", "namespace": "gpu-operator"}}
    own = {**helpers.pod_mutations.EVIL, "volumeMounts": [{"name": f"v{n}", "mountPath": f"/{n}"} for n in range(60)]}
    volumes = [{"name": f"v{number}", "emptyDir": {}} for number in range(60)]
    many = {
        **plain,
        "spec": {"containers": [{**own, "name": f"c{number}"} for number in range(60)], "volumes": volumes},
    }
    plain["spec"] = {"containers": [helpers.pod_mutations.EVIL]}
    asked = {
        "a pod from before the policy is labelled": (labelled, {"oldObject": foreign, "operation": "UPDATE"}),
        "an image is changed": (image, {"oldObject": pod, "operation": "UPDATE"}),
        "a container is added to debug": (
            debugged,
            {"oldObject": pod, "operation": "UPDATE", "subresource": "ephemeralcontainers"},
        ),
        "a pod is annotated for its runtime": (annotated, {"oldObject": pod, "operation": "UPDATE"}),
        "it is annotated with its status": (
            annotated,
            {"oldObject": pod, "operation": "UPDATE", "subresource": "status"},
        ),
        "a status is written": (foreign, {"oldObject": foreign, "operation": "UPDATE", "subresource": "status"}),
        "somebody else's plain pod": (plain, {}),
        "a pod beyond the limit of cost": (many, {}),
        "another namespace": (elsewhere, {}),
    }
    policy, binding = helpers.privilege_policy(cluster.table), helpers.privilege_binding(["Deny", "Audit"])
    whole = {"policy": policy, "bindings": [binding], "resource": "pods"}
    questions = [_question(helpers, other, whole | extra) for other, extra in asked.values()]
    return {name: _verdict(answer) for name, answer in zip(asked, _answers(program, questions), strict=True)}


def _verdict(answer):
    if not answer["matches"]:
        return "no match"
    decisions = answer.get("decisions")
    return f"{decisions[0]['Action']} {decisions[0]['Evaluation']}" if decisions else "skipped by a match condition"


def _cluster(program, helpers, cluster, every):
    policy, binding = helpers.privilege_policy(cluster.table), helpers.privilege_binding(["Deny", "Audit"])
    whole = {"policy": policy, "bindings": [binding], "resource": "pods"}
    costed = {"expression": policy["spec"]["validations"][0]["expression"], "variables": policy["spec"]["variables"]}
    pods, changes = Counter(), Counter()
    costs = [0]
    questions = []
    for start, (workload, pod) in enumerate(cluster.pods.items()):
        questions.append((f"pod {workload}", pod, whole))
        questions.append((f"cost {workload}", pod, costed))
        found = helpers.pod_mutations.mutations(pod, every, start)
        questions += [(f"change {workload}: {text}", other, whole) for text, other in found]
    for at in range(0, len(questions), _AT_ONCE):
        part = questions[at : at + _AT_ONCE]
        asked = [_question(helpers, pod, what) for _, pod, what in part]
        for (text, _, _), answer in zip(part, _answers(program, asked), strict=True):
            sort = text.partition(" ")[0]
            if sort == "cost":
                costs.append(int(answer["cost"]))
                continue
            verdict = _verdict(answer)
            (pods if sort == "pod" else changes)[verdict] += 1
            if verdict != ("admit admit" if sort == "pod" else "deny deny"):
                print(text, answer)
    return {"pods": dict(pods), "changes": dict(changes), "highestCost": max(costs)}


def _question(helpers, pod, what):
    namespace = pod["metadata"]["namespace"]
    labels = {"kubernetes.io/metadata.name": namespace}
    of_namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}
    return {
        "kubernetes": helpers.LOWEST,
        "object": pod,
        "namespace": namespace,
        "namespaceObject": of_namespace,
        "typed": True,
        **what,
    }


def _answers(program, questions):
    text = "".join(json.dumps(question) + "\n" for question in questions)
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


if __name__ == "__main__":
    main()
