"""Pods that real controllers made of what Helm renders, under the policy that follows from the prediction alone.

A real API server was asked about the same pods, and those with one privilege more, with these very expressions:
`record_pods.py` says how. Here our own engine answers.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest

from guard.policies.privilege_policy import chart_pods, record_verdicts
from poolsmith.guard.ledger.privilege import PRIVILEGE_NAMES
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy
from support.one_privilege_more import NO_TOKEN, changes, names
from support.recordings import recording

RECORDED = recording("chart_pods")
EACH = 97
"""Every how many-th change is tried in a run that is not deep; cases begin at different ones."""


@pytest.mark.rows(2, "releases and sets of values that differ most")
@pytest.mark.parametrize("case", RECORDED)
def test_the_pods_that_controllers_made_pass_and_none_with_one_privilege_more(case, helpers):
    recorded = RECORDED[case]
    judge = helpers.Judge(chart_pods.table_of(case.partition("/")[0], json.dumps(recorded["values"])))
    refused = {name: judge.message(pod) for name, pod in recorded["pods"].items()}
    wrong = []
    start = list(RECORDED).index(case)
    for name, pod in recorded["pods"].items():
        for number, change in enumerate(changes(pod)):
            if (number + start) % (1 if helpers.DEEP else EACH):
                continue
            how = {"old": pod, "operation": "UPDATE", "subresource": "ephemeralcontainers"} if change.ephemeral else {}
            message = judge.message(change.pod, **how)
            if not message or not names(message, change):
                wrong.append(f"{name}: {change.place}: {change.kind} {change.gained}: {message}")

    assert {name: text for name, text in refused.items() if text} == {}
    assert wrong == []


@pytest.mark.parametrize("release", chart_pods.RELEASES)
def test_every_set_of_values_is_recorded_for_every_release(release):
    assert {f"{release}/{case}" for case in chart_pods.CASES} <= set(RECORDED.below(release))
    for case in chart_pods.CASES:
        assert RECORDED[f"{release}/{case}"]["values"] == chart_pods.CASES[case]


def test_the_server_was_asked_with_these_expressions(prod):
    """If not: ask again, as record_pods.py says."""
    now = record_verdicts.expressions_digest((privilege_policy(prod.table),))

    assert {RECORDED[case]["expressions"] for case in RECORDED} == {now}


def test_the_server_refused_every_kind_of_privilege():
    counts = Counter()
    for case in RECORDED:
        counts.update(RECORDED[case]["refused"])

    assert set(counts) == {kind for kind in (*PRIVILEGE_NAMES, *NO_TOKEN) if kind != "rbac"}
    assert counts.total() > 1500
