"""What the real Flux and Argo CD do with what is generated, and what `poolsmith diff` says of it before.

The engines run in the circle `deep` (`make engines`, docs/proof.md); what they did is recorded, and each merge is held
against what is predicted of it in every run.
"""

from __future__ import annotations

import pytest

from change.review.repositories import Repository
from engines.judged import Happened, reported, says_drivers_go, says_the_operator_goes
from engines.record import NAME, record_of
from engines.scenarios import BY_NAME, SCENARIOS, Scenario
from support.recordings import recording

RUNS = recording(NAME)
MERGES = [(scenario, *merge) for scenario in SCENARIOS for merge in scenario.merges]
_ALTERS_WITH_THE_RUN = ("said",)
"""Words of the engines beside what they come to."""


def _step(scenario: Scenario, name: str) -> Happened:
    return Happened(next(step for step in RUNS[scenario.name]["steps"] if step["name"] == name))


@pytest.fixture
def repository(tmp_path):
    found = Repository(top=tmp_path, root=tmp_path)
    found.git("init", "-q")
    return found


def test_every_scenario_is_recorded():
    assert sorted(RUNS) == sorted(BY_NAME)
    for scenario in SCENARIOS:
        assert [step["name"] for step in RUNS[scenario.name]["steps"]] == [step.name for step in scenario.steps]


@pytest.mark.parametrize(("scenario", "step", "before", "after"), MERGES, ids=lambda item: getattr(item, "name", ""))
def test_diff_tells_what_the_engine_did(scenario, step, before, after, repository):
    happened, report = _step(scenario, step.name), reported(repository, before, after)

    assert says_the_operator_goes(report) or not happened.operator_is_lost, happened.words
    assert says_drivers_go(report) or not happened.drivers_are_lost, happened.words


@pytest.mark.deep("the engines themselves, a minute or two for each scenario")
@pytest.mark.tool("helm")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item.name)
def test_the_engines_do_what_was_recorded(scenario, control_plane, tmp_path):
    found = record_of(control_plane, scenario, tmp_path / "world")

    for now, then in zip(found["steps"], RUNS[scenario.name]["steps"], strict=True):
        assert _lasting(now) == _lasting(then)


def _lasting(step):
    return {key: value for key, value in step.items() if key not in _ALTERS_WITH_THE_RUN}
