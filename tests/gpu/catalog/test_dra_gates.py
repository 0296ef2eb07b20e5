"""Feature gates of the DRA driver: our verdict is the one that its own code gave."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.dra_gates import alpha_gates, gate_mistakes, gates_of, gates_on
from poolsmith.gpu.catalog.gpu_clusters import read_dra
from support.recordings import recording

RECORDED = recording("dra_gates")
DOCUMENTED = {frozenset(("ConsumableShares", "MPSSupport"))}
"""Pairs that the driver starts with, and that its documentation excludes."""


def settings_of(text):
    return {name: on == "true" for name, on in (item.split("=") for item in text.split(",") if item)}


VERSIONS = ("v25.8.1", "v25.12.0", "v0.4.1", "v0.5.0")


def told(text, version=None):
    settings = settings_of(text)
    shares = "memory" if "ConsumableShares" in gates_on(settings, gates_of(version)) else None
    return [item.message for item in gate_mistakes(settings, shares, version)]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_driver_stops_where_we_say_so(version):
    differ, verdicts = [], set()
    for text, said in RECORDED.items():
        verdict = said if isinstance(said, str) else said[version]
        found = told(text, version)
        ours = [message for message in found if not any(all(gate in message for gate in pair) for pair in DOCUMENTED)]
        verdicts.add(verdict)
        if (verdict == "ok") is bool(ours):
            differ.append(text)

    assert differ == []
    assert {"ok", "set"} <= verdicts


def test_without_a_version_it_is_the_newest_driver():
    assert [text for text in RECORDED if told(text) != told(text, VERSIONS[-1])] == []


def test_every_gate_was_asked():
    asked = {name for text in RECORDED for name in settings_of(text)}

    assert set(read_dra().gates) | set(read_dra().gate_groups) <= asked


@pytest.mark.parametrize(
    ("settings", "shares", "message"),
    [
        ({"ConsumableShares": True}, None, "needs the variable CONSUMABLE_SHARES"),
        ({"ConsumableShares": True}, "disabled", "needs the variable CONSUMABLE_SHARES"),
        ({"ConsumableShares": True}, "some", "can't be `some`"),
        ({"ConsumableShares": True}, "0", "can't be `0`"),
        ({}, "memory", "needs the feature gate `ConsumableShares`"),
        ({"dynamicMIG": True}, None, "has no feature gate `dynamicMIG`"),
        ({"IMEXDaemonsWithDNSNames": False}, None, "`ComputeDomainCliques` needs `IMEXDaemonsWithDNSNames`"),
        ({"AllAlpha": True, "ConsumableShares": False, "MPSSupport": False}, None, "exclude each other"),
    ],
)
def test_what_is_wrong_is_named(settings, shares, message):
    assert any(message in item.message for item in gate_mistakes(settings, shares))


@pytest.mark.parametrize("shares", ["memory", "unlimited", "4", "+4", " memory "])
def test_shares_are_a_word_or_a_number(shares):
    assert list(gate_mistakes({"ConsumableShares": True}, shares)) == []


def test_a_mistake_stands_at_a_gate_that_somebody_set():
    for text in RECORDED:
        settings = settings_of(text)
        assert {item.gate for item in gate_mistakes(settings, None)} <= {*settings, ""}


def test_alpha_gates_are_those_that_are_turned_on_by_name():
    assert alpha_gates({"DynamicMIG": True, "MPSSupport": False, "AllAlpha": True, "Nope": True}) == ["DynamicMIG"]


@pytest.mark.parametrize(
    ("version", "is_told"), [("v25.8.1", True), ("0.4.1", True), ("v0.5.0", False), ("v0.9.0", False), ("main", False)]
)
def test_a_gate_that_came_later_is_told_of_versions_that_are_known(version, is_told):
    assert bool(list(gate_mistakes({"DRAListTypeAttributes": True}, None, version))) is is_told


def test_nothing_is_said_of_gates_of_a_driver_that_nobody_knows():
    assert not list(gate_mistakes({"Nope": True}, None, "v0.9.0"))
    assert list(gate_mistakes({"Nope": True}, None, "latest"))
