"""Harmless pull requests, as reviewers see them every week: both commands end in 0 and find no error."""

import pytest

from pull_requests.harmless_table import harmless_changes
from support.circles import share

CHANGES = list(harmless_changes())


@pytest.mark.rows(1, "a commit and a check of a fleet each")
@pytest.mark.parametrize("change", share(CHANGES, 24))
def test_a_harmless_change_passes(fleets, change):
    fleet = fleets(change)
    verdict = fleet.propose(change)

    assert verdict.errors == ()
    assert (verdict.generate, verdict.check) == (0, 0), verdict.told[-2000:]
    assert fleet.is_current()


def test_there_are_many():
    assert len(CHANGES) >= 50
