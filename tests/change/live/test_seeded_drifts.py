"""What happens to clusters is found and named, and nothing else is: on a real API server, read by kr8s."""

from __future__ import annotations

import pytest

from change.live.drifts import DRIFTS


@pytest.mark.rows(20, "drifts, each seeded into a running cluster")
@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: drift.name)
def test_a_drift_is_found_and_named_and_nothing_else_is(prod, drift):
    undo = drift.do(prod.client)
    try:
        found = prod.told()
    finally:
        undo()

    left = list(found)
    for words in drift.said:
        matching = [text for text in left if all(word in text for word in words)]
        assert len(matching) == 1, found
        left.remove(matching[0])
    assert left == [], "\n".join(left)


def test_afterwards_the_cluster_is_as_it_was(prod):
    assert prod.told() == []


def test_there_are_thirty_kinds():
    assert len({drift.name for drift in DRIFTS}) == len(DRIFTS) >= 30
