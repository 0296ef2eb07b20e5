"""What the real Flux and Argo CD do with what is generated, and what `poolsmith diff` says of it before.

The engines run in the circle `deep` (`make engines`, docs/proof.md); what they did is recorded, and each merge is held
against what is predicted of it in every run.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from change.review.repositories import Repository
from engines.fates import seen_fates, told_fates
from engines.judged import (
    Happened,
    is_grave,
    reported,
    says_drivers_go,
    says_it_is_refused,
    says_the_folder_goes,
    says_the_operator_goes,
)
from engines.page import rows, rows_of_pairs
from engines.pairs import PAIRS
from engines.record import NAME, PAIRS_NAME, record_of
from engines.scenarios import SCENARIOS, Merge
from support.recordings import recording

RUNS, OF_PAIRS = recording(NAME), recording(PAIRS_NAME)
MERGES = {f"{merge.scenario}-{merge.step}": merge for scenario in SCENARIOS for merge in scenario.merges}
_ALTERS_WITH_THE_RUN = {"said"}
"""Words of the engines beside what they come to."""
_REFUSED = "an admission policy that somebody applied by hand"
_FINALIZERS = "Argo CD adds finalizers for hooks to those of the file (docs/moves.md)"
UNTOLD = {
    "argocd-move-removed-given up": _FINALIZERS,
    "argocd-move-kind-device-plugin-given up": _FINALIZERS,
    "argocd-move-kind-operator-given up": _FINALIZERS,
    "flux-failed-other values, refused": _REFUSED,
    "argocd-failed-other values, refused": _REFUSED,
}
"""What is not well afterwards, and no matter of the merge."""
PAGE = Path(__file__).resolve().parents[2] / "docs/engine-runs.md"


def _happened(merge: Merge) -> list[Happened]:
    return [Happened(step) for step in RUNS[merge.scenario]["steps"] if step["name"] in merge.steps]


@pytest.fixture(scope="module")
def report_of(tmp_path_factory):
    """What `poolsmith diff` says of a merge; each is compared once."""

    @cache
    def report(name):
        folder = tmp_path_factory.mktemp("merge")
        found = Repository(top=folder, root=folder)
        found.git("init", "-q")
        return reported(found, MERGES[name].before, MERGES[name].after)

    return report


def test_every_scenario_is_recorded():
    assert sorted(RUNS) == sorted(item.name for item in SCENARIOS)
    for scenario in SCENARIOS:
        assert [step["name"] for step in RUNS[scenario.name]["steps"]] == [step.name for step in scenario.steps]


@pytest.mark.rows(8, "merges, each two fleets and what differs; all of them are on the page")
@pytest.mark.parametrize("name", MERGES)
def test_diff_tells_what_the_engine_did(name, report_of):
    happened, report = _happened(MERGES[name]), report_of(name)
    told = "; ".join(item.words for item in happened)

    assert says_the_operator_goes(report) or not any(item.operator_is_lost for item in happened), told
    assert says_drivers_go(report) or not any(item.drivers_are_lost for item in happened), told
    is_waiting = says_the_folder_goes(report) or says_it_is_refused(report) or name in UNTOLD
    assert is_grave(report) or is_waiting or not happened[-1].unwell, told


@pytest.mark.parametrize("scenario", [item for item in SCENARIOS if item.keeps], ids=lambda item: item.name)
def test_by_the_steps_of_the_pages_nothing_is_lost(scenario):
    first, *later = map(Happened, RUNS[scenario.name]["steps"])

    assert first.step["made"]
    for item in later:
        assert (item.lost, item.step["jobs"]) == ([], []), item.words
    assert later[-1].unwell == {}


@pytest.mark.rows(6, "pairs of fleets; the engines' answers are recorded")
@pytest.mark.parametrize("pair", [item for item in PAIRS if item.name in OF_PAIRS], ids=lambda item: item.name)
def test_of_random_pairs_each_fate_is_told(pair, tmp_path):
    repository = Repository(top=tmp_path, root=tmp_path)
    repository.git("init", "-q")
    stack, seen = seen_fates(OF_PAIRS[pair.name])

    report = reported(repository, pair.base.files, pair.head.files, unguarded=not pair.base.is_guarded)
    assert told_fates(report, pair.base, stack) == seen


def test_the_page_has_every_pair(assert_table):
    assert_table(PAGE, "engine-pairs", list(rows_of_pairs(PAIRS, OF_PAIRS)))


@pytest.mark.deep("every merge; a sample of them stays")
def test_the_page_says_what_was_predicted_and_what_happened(report_of, assert_table):
    reports = {(merge.scenario, merge.step): report_of(name) for name, merge in MERGES.items()}

    assert_table(PAGE, "engines", list(rows(SCENARIOS, RUNS, reports)))


@pytest.mark.deep("the engines themselves, a minute or two for each scenario")
@pytest.mark.tool("helm")
@pytest.mark.parametrize(
    "scenario",
    [*SCENARIOS, *(item.scenario for item in PAIRS if item.name in OF_PAIRS)],
    ids=lambda item: item.name,
)
def test_the_engines_do_what_was_recorded(scenario, control_plane, tmp_path):
    found = record_of(control_plane, scenario, tmp_path / "world")

    for now, then in zip(found["steps"], _recorded(scenario.name)["steps"], strict=True):
        assert {key: now[key] for key in then.keys() - _ALTERS_WITH_THE_RUN} == _lasting(then)


def _recorded(name):
    return OF_PAIRS[name] if name in OF_PAIRS else RUNS[name]


def _lasting(step):
    return {key: value for key, value in step.items() if key not in _ALTERS_WITH_THE_RUN}
