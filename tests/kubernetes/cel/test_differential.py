"""Random expressions: what the API server's evaluator makes of them is what we make of them, or we say that we can't."""

from __future__ import annotations

import subprocess

import pytest

from kubernetes.cel import verdicts
from poolsmith.kubernetes.cel import engine_problem
from support.circles import DEEP
from support.recordings import recording

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
RECORDED = 20_000
LIVE_FROM = 1_000_000
ALWAYS = range(0, RECORDED if DEEP else 4_000, verdicts.BLOCK)
LIVE = range(LIVE_FROM, LIVE_FROM + (RECORDED if DEEP else verdicts.BLOCK), verdicts.BLOCK)


def agree(questions, known):
    counts, different = verdicts.compared(questions, known)
    assert not different, (counts, different[:3])
    assert counts["not evaluated"] < len(questions) * 0.06, counts
    assert counts["equal"] > len(questions) * 0.35, counts


@pytest.mark.rows(2, "500 expressions each")
@pytest.mark.parametrize("first", ALWAYS)
def test_random_expressions_mean_what_was_recorded(first):
    known = recording("cel_verdicts")[f"{first:06}"]
    questions = verdicts.block_of(first)
    assert verdicts.digest(questions) == known["questions"], (
        "other questions than were asked: run tests/kubernetes/cel/record.py"
    )
    agree(questions, known["verdicts"])


@pytest.mark.real("the API server's evaluator is asked anew; recorded answers stay")
@pytest.mark.tool("vap-oracle")
@pytest.mark.parametrize("first", LIVE)
def test_random_expressions_mean_what_the_api_servers_evaluator_says_now(first):
    questions = verdicts.block_of(first)
    try:
        known = verdicts.asked("vap-oracle", questions)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the evaluator stopped: {error.stderr[-500:]}")
    agree(questions, known)


def test_a_wrong_value_would_be_found():
    """The comparison itself: each kind of disagreement is one."""
    questions = verdicts.block_of(0)[:40]
    found = [verdicts.ours(one) for one in questions]
    told = [one for one in found if one != "not evaluated"]
    assert len({str(one) for one in told}) > 5
    for wrong in ("refused", "error", ["something else"], [None]):
        counts, different = verdicts.compared(questions, [wrong] * len(questions))
        expected = [one for one in told if one != wrong and not (isinstance(one, list) and one == wrong)]
        assert counts["different"] == len(different) == len(expected)
