"""What Kubernetes' own evaluator said of the predicted pods and of changed ones, with these very expressions."""

from __future__ import annotations

import json

import pytest

from guard.policies.privilege_policy import record_verdicts
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy

COST_LIMIT = 1_000_000
"""Of one expression, in the API server."""


@pytest.fixture
def recorded():
    return json.loads(record_verdicts.RECORDED.read_text())


def test_the_expressions_are_those_that_it_was_asked_about(recorded, prod):
    """If not: ask again, as record_verdicts.py says."""
    assert recorded["expressions"] == record_verdicts.expressions_digest((privilege_policy(prod.table),))


def test_it_passed_every_predicted_pod_and_refused_every_changed_one(recorded, helpers):
    assert set(recorded["clusters"]) == set(helpers.FLEET)
    for found in recorded["clusters"].values():
        assert set(found["pods"]) == {"admit admit"}
        assert set(found["changes"]) == {"deny deny"}


def test_other_requests_came_out_as_they_should(recorded):
    assert recorded["situations"] == {
        "a pod from before the policy is labelled": "skipped by a match condition",
        "an image is changed": "deny deny",
        "a container is added to debug": "deny deny",
        "a pod is annotated for its runtime": "deny deny",
        "it is annotated with its status": "deny deny",
        "a status is written": "skipped by a match condition",
        "somebody else's plain pod": "admit admit",
        "a pod beyond the limit of cost": "deny error",
        "another namespace": "no match",
    }


def test_it_was_far_from_its_limit(recorded):
    assert max(found["highestCost"] for found in recorded["clusters"].values()) < COST_LIMIT / 20
