"""What Kubernetes' own evaluator decided (recorded/decisions.json) is what is decided here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kubernetes.admission.questions import QUESTIONS
from kubernetes.admission.record_policies import asked_of
from poolsmith.kubernetes.admission.evaluate import Surroundings, evaluate
from poolsmith.kubernetes.admission.policy_expressions import compile_policy
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import Subject, User, make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.kubernetes.objects_file import placed_objects

HERE = Path(__file__).resolve().parent
KUBERNETES = "1.34"
pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")


ANSWERS = json.loads((HERE / "recorded/decisions.json").read_text("utf-8"))


def evaluated(asked):
    objects = [asked["policy"], *asked.get("bindings", ()), *filter(None, [asked.get("params")])]
    placed = placed_objects("asked.yaml", "---\n".join(yaml.safe_dump(item) for item in objects))
    policies, _ = read_policies(placed, KUBERNETES)
    resources = Resources(KUBERNETES)
    who = asked.get("userInfo", {})
    request = make_request(
        asked["object"],
        resources,
        old=asked.get("oldObject"),
        operation=asked.get("operation", "CREATE"),
        namespaces=lambda name: asked.get("namespaceObject"),
        user=User(name=who.get("Name", ""), groups=tuple(who.get("Groups", ()))),
        subresource=asked.get("subresource", ""),
    )
    return evaluate(
        compile_policy(policies.policies[0], KUBERNETES), Subject(request), Surroundings(policies, resources)
    )


def decided(evaluation):
    """In the words of the record; of errors only that they are some: compilers word them differently."""
    return [
        (str(item.verdict), item.failed, item.message if item.verdict == "deny" else None, item.reason)
        for item in evaluation.results
        if "/auditAnnotations/" not in item.pointer
    ]


def expected(answer):
    matched = answer["matches"] and answer.get("bindings", {}).get("b", True)
    words = {"admit": "allow", "deny": "deny", "error": "error"}
    return [
        (
            words[item["Evaluation"]],
            item["Action"] == "deny",
            item["Message"] if item["Evaluation"] == "deny" else None,
            item["Reason"],
        )
        for item in (answer.get("decisions") or ())
        if matched
    ]


def annotations(evaluation):
    published = [f"k publish {item.value}" for item in evaluation.audit_annotations]
    failed = ["k error" for item in evaluation.results if "/auditAnnotations/" in item.pointer]
    return [*published, *failed]


def expected_annotations(answer):
    found = [item.strip() for item in answer.get("auditAnnotations", ())]
    return ["k error" if item.startswith("k error") else item for item in found if not item.startswith("k exclude")]


@pytest.mark.parametrize("name", QUESTIONS)
def test_it_is_decided_as_kubernetes_does(name):
    evaluation = evaluated(QUESTIONS[name])

    assert decided(evaluation) == expected(ANSWERS[name])
    assert annotations(evaluation) == expected_annotations(ANSWERS[name])


MADE_UP = json.loads((HERE / "recorded/policies.json").read_text("utf-8"))


@pytest.mark.rows(63, "a row takes 0.008 s; each value of each column is seen first")
@pytest.mark.parametrize("case", MADE_UP, ids=[str(index) for index in range(len(MADE_UP))])
def test_a_made_up_policy_is_decided_as_kubernetes_does(case):
    evaluation = evaluated(asked_of(case))

    assert decided(evaluation) == expected(case["answer"])
    assert annotations(evaluation) == expected_annotations(case["answer"])


def test_every_question_has_an_answer_and_no_answer_is_an_orphan():
    assert ANSWERS.keys() == QUESTIONS.keys()
