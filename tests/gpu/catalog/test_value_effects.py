"""What values take effect with: recorded for each release, and what the prediction says of switches in any position."""

from __future__ import annotations

import random

import pytest

from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.value_effects import effects, recorded_effects, recorded_releases
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


def test_every_release_of_the_catalog_is_recorded():
    assert recorded_releases() == RELEASES


SHOWN = recording("value_effects")


@pytest.mark.parametrize("release", RELEASES)
def test_each_value_of_a_release_is_recorded_as_helm_and_the_operators_own_controllers_show_it(release):
    known = recorded_effects(release)
    leaves = Probe(release).leaves

    assert [path for path in leaves if f"{release}/{path}" not in SHOWN] == [], (
        "record it: tests/tools/record_value_effects.py"
    )
    assert [path for path in leaves if known.get(path) != SHOWN[f"{release}/{path}"]] == []


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
