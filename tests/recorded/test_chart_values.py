"""The table of value paths is what the recorded charts give, and each chart's own file is sound by its release."""

from __future__ import annotations

import pytest
import yaml

from poolsmith.core.diagnostics.rule_engine import Found
from poolsmith.core.facts import store
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.importing.chart_import import entry_from_chart
from poolsmith.gpu.values.document import ValuesDocument
from poolsmith.gpu.values.registry import VALUE_RULES
from support.recordings import recording
from tools.record_release import image_table, recorded_charts, value_table

TABLE = store.DATA / "chart_values.json"
TAGS = value_paths().tags
EMPTY = {"array": list, "object": dict, "string": str, "boolean": bool, "integer": int}
COPY, OLD_DRIVER = "PSM328", "PSM338"  # the chart's file is a copy of itself, and its driver is of its time


@pytest.fixture(scope="module")
def recorded():
    return recorded_charts()


def test_the_tables_are_what_the_recorded_charts_give(recorded):
    assert TABLE.read_text("utf-8") == value_table(recorded)
    assert TABLE.stat().st_size < 200_000
    assert (store.DATA / "values/images.json").read_text("utf-8") == image_table(recorded)


@pytest.mark.parametrize("release", Catalog().releases.by_tag)
def test_a_release_of_the_catalog_is_recorded(recorded, release):
    how = "run tests/tools/record_release.py"

    assert release in recorded, how
    assert release in TAGS, how
    assert recording("gpu_operator").below(f"{OPERATOR_CHART}/{release}"), how


def defaults_of(paths):
    """A chart's values.yaml as far as it was recorded: what is declared, with its type or its default."""
    values = {}
    declared = {path: fact for path, fact in paths.items() if fact["declared"]}
    for path, fact in sorted(declared.items()):
        node, keys = values, path.split(".")
        if any(other.startswith(f"{path}.") for other in declared) or "annotations" in keys or "kubernetes" in keys:
            continue
        for key in keys[:-1]:
            node = node.setdefault(key, {})
        if isinstance(node, dict):
            node[keys[-1]] = fact.get("default", EMPTY.get(fact.get("type"), type(None))())
    return values


def told(values, tag):
    """Of the keys themselves; what a release brings that is vulnerable or undecided is another matter."""
    document = ValuesDocument(values, value_paths().release(tag))
    found = [Found(rule.RULE, item) for rule in VALUE_RULES for item in rule.check(document)]
    keys = [item for item in found if item.rule.code.startswith("PSM3") and item.rule.code not in (COPY, OLD_DRIVER)]
    return {(item.rule.code, ".".join(map(str, item.finding.place))) for item in keys}


def documented(tag):
    dead = value_paths().dead(tag)
    return {("PSM320", path) for path in dead if not any(path.startswith(f"{other}.") for other in dead)}


@pytest.mark.parametrize("tag", TAGS)
def test_of_a_charts_own_defaults_nothing_but_documented_dead_keys_is_told(recorded, tag):
    values = defaults_of(recorded[tag]["paths"])
    later = {("PSM322", path) for _, path in documented(tag)}  # declared before anything read it

    assert told(values, tag) <= documented(tag) | later


@pytest.mark.parametrize("tag", store.names("charts/gpu-operator"))
def test_of_a_charts_own_file_nothing_is_told_and_its_dead_keys_are_where_they_say_something_else(upstream, tag):
    values = yaml.safe_load((upstream(f"gpu-operator/{tag}") / "values.yaml").read_text("utf-8"))
    assert told(values, tag) == set()

    for _, path in documented(tag):
        *above, key = path.split(".")
        node = values
        for step in above:
            node = node[step]
        node[key] = {"changed": "x"} if isinstance(node[key], dict) else "changed"

    assert told(values, tag) == documented(tag)


@pytest.mark.parametrize("tag", store.names("charts/gpu-operator"))
def test_the_importer_finds_what_the_entry_holds_as_far_as_the_files_say(upstream, tag):
    """The recorded folders have no templates: declared paths, defaults and definitions can be compared."""
    entry = entry_from_chart(read_chart_files(upstream(f"gpu-operator/{tag}")), release=tag)
    held = store.read_json(f"charts/gpu-operator/{tag}.json")

    for field in ("release", "kubeVersion", "nodeFeatureDiscoveryChart", "defaults", "nvidiaDriverFields"):
        assert entry[field] == held[field]
    assert entry["crds"] == store.read_json(f"crds/{tag}.json")["kinds"]
    declared = {path for path in held["paths"] if path in value_paths().declared(tag)} | set(held["dead"])
    assert declared - entry["paths"].keys() == set()
    same = [path for path in declared if held["paths"].get(path, "any") in ("any", entry["paths"][path])]
    assert len(same) >= 0.98 * len(declared)
    assert entry["templates"] is False
