"""At what the device plugin and its MPS daemon stop after reading, and what they offer otherwise, against their own code."""

from __future__ import annotations

import json

import pytest

from oracle.configurations.texts import CIRCUMSTANCES, plugin_starts
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.values.device_plugin_config import (
    passed_over,
    renamed,
    replicated,
    resource_of,
    shares_by_mps,
    start_mistakes,
)
from support.recordings import recording

PLUGINS = ("v0.16.2", "v0.17.4", "v0.18.1", "v0.19.3", "v0.20.0")
RECORDED = recording("plugin_starts")
STOPS = ("plugin", "daemon")
GPUS = 2
"""How many the recorded machine has."""


def rows(plugin):
    for key, said in RECORDED.items():
        name, _, text = key.partition(": ")
        yield CIRCUMSTANCES[name], json.loads(text), said if isinstance(said, str) else said[plugin]


def is_stopped(config, plugin, variables):
    """Who runs the plugin by hand names the root of MPS; where that is missing another rule tells it."""
    rootless = "MPS_ROOT" not in variables and not (config or {}).get("flags", {}).get("mpsRoot")
    mistakes = start_mistakes(config, plugin, variables.get("MIG_STRATEGY", ""), {variables["CAPABILITY"]})
    return bool(mistakes) or (rootless and shares_by_mps(config))


def offered(config):
    entries = [item["replicas"] for item in replicated(config) if resource_of(item["name"]) == GPU]
    return f"{renamed(config).get(GPU, GPU)}={GPUS * (entries[-1] if entries else 1)}"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_at_what_it_stops_is_told_and_nothing_else(plugin):
    wrong = [row for row in rows(plugin) if is_stopped(row[1], plugin, row[0]) != (row[2] in STOPS)]

    assert wrong == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_it_offers_is_known(plugin):
    assert [row for row in rows(plugin) if row[2] not in STOPS and row[2] != offered(row[1])] == []


def without(config, path):
    """A configuration without what a dotted path leads to, and what is empty without it."""
    *above, last = (
        int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")
    )
    node = config
    for step in above:
        node = node[step]
    del node[last]
    return config


def test_what_is_passed_over_changes_nothing():
    asked = {text: json.loads(text) for text in plugin_starts()}
    paths = {text: [path for path, _ in passed_over(config, "v0.20.0")] for text, config in asked.items()}
    twins = {
        text: json.dumps({} if found[0].startswith("resources") else without(asked[text], found[0]))
        for text, found in paths.items()
        if len(found) == 1
    }

    assert len(twins) > 20
    assert [
        (text, name)
        for text, twin in twins.items()
        for name in CIRCUMSTANCES
        if RECORDED[f"{name}: {text}"] != RECORDED[f"{name}: {twin}"]
    ] == []


def test_all_texts_that_are_made_are_recorded():
    assert {key.partition(": ")[2] for key in RECORDED} == set(plugin_starts())
