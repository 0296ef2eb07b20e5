"""What values take effect with: recorded for each release, and what the prediction says of switches in any position."""

from __future__ import annotations

import random

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.text_values import PLACE, Becomes, text_becomes
from poolsmith.gpu.catalog.value_effects import effects, recorded_effects
from poolsmith.gpu.catalog.value_paths import value_paths
from support.recordings import recording
from tools.record_value_effects import Probe, changed, effect, given, variables

RELEASES = chart_versions("gpu-operator")
SAMPLE = (
    "driver.env",
    "gds.env",
    "ccManager.defaultMode",
    "dcgmExporter.serviceMonitor.interval",
    "cdi.nriPluginEnabled",
)


SHOWN = recording("value_effects")


@pytest.mark.parametrize("release", RELEASES)
def test_each_value_of_a_release_is_recorded_as_helm_and_the_operators_own_controllers_show_it(release):
    known = recorded_effects(release)
    leaves = Probe(release).leaves

    assert [path for path in leaves if f"{release}/{path}" not in SHOWN] == [], (
        "record it: tests/tools/record_value_effects.py"
    )
    assert [path for path in leaves if known.get(path) != SHOWN[f"{release}/{path}"]] == []


SILENT = {
    "driver.upgradePolicy": "the upgrade controller reads it, which makes no object",
    "driver.livenessProbe": "the operator stops at it",
    "driver.readinessProbe": "the operator stops at it",
    "driver.licensingConfig.nlsEnabled": "only beside a license, and then by default",
    "operator.use_ocp_driver_toolkit": "on OpenShift",
    "operator.initContainer": "on OpenShift",
    "migManager.config.default": "the definition takes no other value",
    "kataManager": "not without artifacts that no test has; PSM321 tells it where the operator has no such manager",
}
"""By path, or one above it: why nothing shows of a value, and nothing is told of it."""


@pytest.mark.parametrize("release", RELEASES)
def test_a_value_of_which_nothing_shows_is_told_to_be_dead_or_its_reason_stands_here(release):
    paths = value_paths()
    dead = [path.split(".") for path, effect in recorded_effects(release).items() if isinstance(effect, str)]
    above = [[tuple(steps[:length]) for length in range(1, len(steps) + 1)] for steps in dead]

    assert [
        places[-1]
        for places in above
        if not any(paths.ignored(place, release) or ".".join(place) in SILENT for place in places)
    ] == []


@pytest.mark.parametrize("release", ["v25.3.4", "v26.7.0"])
@pytest.mark.parametrize("path", SAMPLE)
def test_the_prediction_has_the_effect_that_the_programs_show(path, release):
    probe = Probe(release)
    recorded = recorded_effects(release).get(path)

    assert recorded is None if path not in probe.leaves else effect(probe, path) == recorded


@pytest.mark.deep("each predicts an installation for a value and random positions of its switches")
@pytest.mark.parametrize("seed", range(150))
def test_what_is_told_to_have_no_effect_has_none_wherever_the_other_switches_stand(seed):
    draw = random.Random(seed)
    release = draw.choice(RELEASES)
    probe = Probe(release)
    known = recorded_effects(release)
    path = draw.choice([item for item in probe.leaves if isinstance(known.get(item), dict | list)])
    known = variables(probe, path)
    settings = given(known, {name: draw.choice(list(positions)) for name, positions in known.items()})
    value = next(probe.values_of(path))

    def holds(dotted):
        return settings.get(dotted, probe.chart.default(tuple(dotted.split("."))))

    if any(effects(release).missing(path, holds)):
        assert changed(probe, path, value, settings) is not True, (release, path, settings)


@pytest.mark.parametrize("release", RELEASES)
def test_what_becomes_of_texts_is_recorded_at_each_release(release):
    assert release in store.read_json(PLACE)["releases"], "record it: tests/tools/record_text_values.py"
    assert text_becomes(release, "driver.enabled") is Becomes.ITSELF
    assert text_becomes(release, "nfd.enabled") is Becomes.TRUE
    assert text_becomes(release, "dcgmExporter.serviceMonitor.honorLabels") is Becomes.REFUSED
    assert text_becomes(release, "unheard.of") is Becomes.REFUSED
