"""What is accepted for a while: by exactly these words, with a reason, an owner and a day that has not passed."""

from __future__ import annotations

import datetime as dt

import pytest

from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.policies.policies import Policies

TODAY = dt.date(2027, 1, 31)
SIGNED = {"reason": "read at that revision", "owner": "gpu-platform", "expires": "2027-01-31"}
SETTING = {"cluster": "lab", "workload": "gpu-operator/DaemonSet/driver", "setting": "env LD_PRELOAD"}
UNKNOWN = {
    "cluster": "lab",
    "unit": "kata",
    "source": "https://git.example.com/kata",
    "revision": "v1",
    "unknown": "what it brings",
}


def policies(root, **spec):
    (root / "policies").mkdir(exist_ok=True)
    body = {"apiVersion": "poolsmith/v1", "kind": "SupplyPolicy", "metadata": {"name": "fleet"}, "spec": spec}
    (root / "policies/supply.yaml").write_text(emit(body))
    return Policies(root)


def names(found):
    return [item.name for item in found]


def test_a_setting_is_accepted_by_its_very_words(tmp_path):
    supply = policies(tmp_path, acceptSettings=[SETTING | SIGNED]).supply
    words = tuple(SETTING.values())
    assert supply.accepts_setting(*words, TODAY)
    for at in range(3):
        other = [word + ("x" if index == at else "") for index, word in enumerate(words)]
        assert not supply.accepts_setting(*other, TODAY)


def test_something_unknown_is_accepted_with_all_that_it_is(tmp_path):
    supply = policies(tmp_path, acceptUnknown=[UNKNOWN | SIGNED]).supply
    parts = {"unit": "kata", "source": "https://git.example.com/kata", "revision": "v1"}
    assert supply.accepts_unknown("lab", "what it brings", TODAY, **parts)
    assert not supply.accepts_unknown("lab", "what it brings", TODAY)
    assert not supply.accepts_unknown("prod", "what it brings", TODAY, **parts)
    assert not supply.accepts_unknown("lab", "what else it brings", TODAY, **parts)
    for name in parts:
        assert not supply.accepts_unknown("lab", "what it brings", TODAY, **parts | {name: "v2"})
        assert not supply.accepts_unknown("lab", "what it brings", TODAY, **parts | {name: None})


def test_an_acceptance_ends_with_its_day(tmp_path):
    held = policies(tmp_path, acceptUnknown=[UNKNOWN | SIGNED], acceptSettings=[SETTING | SIGNED])
    after = TODAY + dt.timedelta(days=1)
    assert not held.problems
    assert list(held.supply.expired(TODAY)) == []
    assert names(held.supply.expired(after)) == ["expired-acceptance"] * 2
    assert not held.supply.accepts_setting(*SETTING.values(), after)


@pytest.mark.parametrize("name", sorted(SIGNED))
@pytest.mark.parametrize("text", ["", "TODO", "tbd", "?"])
def test_an_acceptance_that_nobody_explained_accepts_nothing(tmp_path, name, text):
    held = policies(tmp_path, acceptSettings=[SETTING | SIGNED | {name: text}])
    assert names(held.problems) == ["unexplained-acceptance"]
    assert held.supply.is_kept
    assert not held.supply.accepts_setting(*SETTING.values(), TODAY)


@pytest.mark.parametrize("text", ["2027-02-30", "soon", "27-01-01"])
def test_a_day_must_be_one(tmp_path, text):
    held = policies(tmp_path, acceptSettings=[SETTING | SIGNED | {"expires": text}])
    assert names(held.problems) == ["invalid-value"]
    assert not held.supply.accepts_setting(*SETTING.values(), TODAY)


def test_the_same_twice_is_said_and_the_first_counts(tmp_path):
    held = policies(tmp_path, acceptSettings=[SETTING | SIGNED, SETTING | SIGNED | {"expires": "2030-01-01"}])
    assert names(held.problems) == ["duplicate-item"]
    assert not held.supply.accepts_setting(*SETTING.values(), TODAY + dt.timedelta(days=1))


def test_a_file_that_is_not_sound_allows_nothing(tmp_path):
    held = policies(tmp_path, acceptSettings=[SETTING | SIGNED], imageRegistries=["nvcr.io@evil"])
    assert names(held.problems) == ["invalid-name"]
    assert not held.supply.is_kept
    assert not held.supply.accepts_setting(*SETTING.values(), TODAY)


def test_without_a_file_nothing_is_accepted(tmp_path):
    held = Policies(tmp_path)
    assert not held.supply.is_kept
    assert not held.supply.accepts_setting(*SETTING.values(), TODAY)


def test_what_is_accepted_but_not_there_is_said(tmp_path):
    supply = policies(tmp_path, acceptUnknown=[UNKNOWN | SIGNED]).supply
    used = {supply.unknown[0].key}
    assert list(supply.unused(used, TODAY)) == []
    assert names(supply.unused((), TODAY)) == ["unused-acceptance"]
