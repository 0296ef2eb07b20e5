"""Which policies and bindings are meant for which requests, as Kubernetes' own matcher said (recorded/matching.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poolsmith.kubernetes.admission.matching import Answer, matches, may_match
from poolsmith.kubernetes.admission.policy_reading import match_resources
from poolsmith.kubernetes.admission.request import make_request
from poolsmith.kubernetes.admission.resources import Resources

CASES = json.loads((Path(__file__).parent / "recorded/matching.json").read_text("utf-8"))
RESOURCES = Resources("1.34")


@pytest.mark.parametrize("asked", CASES, ids=[str(index) for index in range(len(CASES))])
def test_a_request_is_meant_or_not(asked):
    request = make_request(
        asked["object"],
        RESOURCES,
        old=asked["oldObject"],
        operation=asked["operation"],
        namespaces=lambda name: asked.get("namespaceObject"),
        subresource=asked["subresource"],
    )

    answers = [matches(match_resources(asked[part]), request, RESOURCES).answer for part in ("match", "narrowed")]

    assert (answers == [Answer.YES, Answer.YES]) is asked["matches"]
    assert Answer.UNDECIDED not in answers


def test_both_answers_are_recorded():
    assert {case["matches"] for case in CASES} == {True, False}
    assert len(CASES) == 240


def test_what_is_meant_for_a_new_object_may_match_its_resource():
    """Of a resource that no policy may match nothing is asked: that must never be said of one that Kubernetes takes."""
    answers: dict[bool, set[bool]] = {True: set(), False: set()}
    for asked in CASES:
        if asked["operation"] == "CREATE" and not asked["subresource"]:
            body = asked["object"]
            resource = RESOURCES.of(body["apiVersion"], body["kind"])
            answers[asked["matches"]].add(may_match(match_resources(asked["match"]), resource, RESOURCES))

    assert answers[True] == {True}
    assert False in answers[False]
