"""Generated pull requests: every hostile name is refused by name, and their harmless twins pass.

`make test` takes a few of each kind, `make test-deep` all of them; `python -m pull_requests.verdicts` prints each verdict.
"""

from dataclasses import replace

import pytest

from pull_requests.conftest import some_of
from pull_requests.generated import (
    git_changes,
    harmless_profile_changes,
    harmless_rounds,
    judge,
    profile_changes,
    value_rounds,
)
from pull_requests.values_table import RELEASES
from support.circles import parameters

HOSTILE = [one for cluster in RELEASES for one in value_rounds(cluster)]
HARMLESS = [one for cluster in RELEASES for one in harmless_rounds(cluster)]
FIRST = ("edge",)


FEW = 6


def _share(rounds):
    """Of one round some attempts of each kind, and all of all rounds in the deep run."""
    whole = next(one for one in rounds if one.cluster in FIRST)
    step = max(1, len(whole.attempts) // FEW)
    return parameters([replace(whole, attempts=whole.attempts[::step])], rounds)


@pytest.mark.parametrize("one", _share(HOSTILE))
def test_every_hostile_value_is_refused_by_what_it_gains(fleets, one):
    outcome = judge(fleets(one.change), one)

    assert [str(attempt) for attempt in outcome.passed] == []
    assert len(outcome.refused) == len(one.attempts)


@pytest.mark.parametrize("one", _share(HARMLESS))
def test_a_harmless_twin_passes(fleets, one):
    outcome = judge(fleets(one.change), one)

    assert [(str(attempt), reason) for attempt, reason in outcome.refused] == []


@pytest.mark.rows(6, "a change to a fleet, judged by its base")
@pytest.mark.parametrize("change", some_of([*profile_changes(), *git_changes()], {}))
def test_a_generated_change_is_refused_by_name(fleets, change):
    verdict = fleets(change).propose(change)

    assert verdict.check == 1, verdict.told[-2000:]
    assert verdict.names(change), [f"{error.rule}: {error.words[:300]}" for error in verdict.errors]


@pytest.mark.parametrize("change", some_of(harmless_profile_changes(), {}))
def test_a_harmless_profile_passes(fleets, change):
    verdict = fleets(change).propose(change)

    assert verdict.errors == ()
    assert verdict.check == 0, verdict.told[-2000:]


def test_there_are_many():
    assert sum(len(attempt.words) for one in HOSTILE for attempt in one.attempts) >= 1_500
    assert len([*profile_changes(), *git_changes()]) >= 120
