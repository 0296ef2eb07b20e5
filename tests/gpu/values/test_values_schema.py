"""The schema of Helm values takes what the rules take, and refuses what no release reads."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.values_schema import values_schema
from support.circles import share
from support.recordings import recording
from support.value_sets import RELEASES

TAGS = value_paths().tags


def validator(tag):
    schema = values_schema(value_paths().release(tag))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def wrong(tag, values):
    return [error.message for error in validator(tag).iter_errors(values)]


@pytest.mark.parametrize("tag", [tag for tag in TAGS if value_paths().release(tag).defaults is not None])
def test_the_charts_own_defaults_are_valid(tag):
    assert wrong(tag, value_paths().release(tag).defaults) == []


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
@pytest.mark.rows(2, "all sets of values of a release each")
@pytest.mark.parametrize("tag", share(RELEASES, 4))
def test_what_helm_was_seen_to_render_is_valid(tag):
    """Each set of values was rendered at each release, so that none has a type that the chart refuses."""
    sets = recording("value_sets")
    found = [error for key in sets.below("values") for error in wrong(tag, sets[key]) if "was unexpected" not in error]

    assert found == []


@pytest.mark.rows(15, "each release once")
@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    "values",
    [{"drivre": {}}, {"driver": {"enabeld": True}}, {"driver": {"enabled": "yes"}}, {"daemonsets": {"toleration": []}}],
    ids=["a part", "a switch", "a text for a switch", "a list"],
)
def test_what_is_misspelt_is_refused(tag, values):
    assert wrong(tag, values) != []


def test_words_and_texts_of_a_release():
    assert wrong("v26.3.3", {"mig": {"strategy": "Mixed"}}) != []
    assert wrong("v26.3.3", {"mig": {"strategy": "mixed"}, "x-mine": 1, "global": {"a": 1}, "driver": None}) == []
    schema = values_schema(value_paths().release("v26.3.3"))
    past = schema["properties"]["operator"]["properties"]["defaultRuntime"]
    assert "since v25.3.0" in past["deprecationMessage"]


def test_the_verb_prints_it_and_names_releases(run_cli):
    printed = run_cli(["schema", "values", "--release", "v26.3.3"])
    assert json.loads(printed.out)["title"] == "Helm values of gpu-operator v26.3.3"
    assert run_cli(["schema", "values"]).code == 2
    assert run_cli(["schema", "values", "--release", "v1"]).code == 2
    assert run_cli(["schema", "NodePool", "--release", "v26.3.3"]).code == 2


@pytest.mark.parametrize("tag", TAGS)
def test_the_charts_own_file_is_valid(checkouts, tag):
    folder = checkouts("POOLSMITH_CHARTS")
    values = yaml.safe_load(Path(folder, tag, "gpu-operator/values.yaml").read_text("utf-8"))

    assert wrong(tag, values) == []
