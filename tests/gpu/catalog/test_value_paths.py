"""Typed look-ups over the value paths of all releases."""

from __future__ import annotations

import pytest

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.value_paths import value_paths


def test_all_tags_are_there_in_order():
    tags = value_paths().tags

    assert (len(tags), tags[0], tags[-1]) == (31, "v22.9.0", "v26.7.0")
    assert list(tags) == sorted(tags, key=version_key)


@pytest.mark.parametrize("release", Catalog().releases.by_tag)
def test_every_release_that_is_generated_has_its_value_paths(release):
    assert value_paths().release(release) is not None


def test_a_version_is_found_with_and_without_its_letter():
    assert value_paths().release("26.3.3") is value_paths().release("v26.3.3")
    assert [value_paths().release(word) for word in ("", "v99", "26.3.x", ">=26")] == [None] * 4


@pytest.mark.parametrize("release", store.names("charts/gpu-operator"))
def test_the_table_agrees_with_the_entry_of_a_release(release):
    chart = Catalog().chart("gpu-operator", release)
    paths = {path for path in chart.paths if not path.startswith("node-feature-discovery")}

    assert value_paths().read_paths(release) == paths
    assert set(value_paths().dead(release)) == set(chart.dead)


def test_where_a_key_was_read_and_what_became_of_it():
    paths = value_paths()

    assert paths.past(("driver", "useOpenKernelModules"), "v26.3.3").gone_since == "v25.3.0"
    assert paths.past(("draDriver",), "v26.3.3").comes_with == "v26.7.0"
    assert paths.past(("devicePlugin", "mps"), "v26.7.0").never_read
    assert paths.past(("nothing",), "v26.7.0") is None
    assert paths.past(("driver",), "v26.7.0") is None


@pytest.mark.parametrize("path", sorted(store.read_yaml("values/history.yaml")["gone"]))
def test_a_note_about_a_key_is_of_a_key_that_some_release_does_not_read(path):
    keys = tuple(path.split("."))

    assert any(value_paths().past(keys, tag) is not None for tag in value_paths().tags)


@pytest.mark.parametrize(("path", "note"), sorted(store.read_yaml("values/history.yaml")["ignored"].items()))
def test_a_key_that_is_ignored_is_read_then(path, note):
    assert note["since"] in value_paths().read_in(path)


def test_what_takes_a_keys_place_is_read_by_some_release():
    history = store.read_yaml("values/history.yaml")
    notes = [*history["gone"].values(), *history["ignored"].values(), *history["perComponent"].values()]

    assert [note["instead"] for note in notes if "instead" in note and not value_paths().read_in(note["instead"])] == []


def test_no_release_reads_a_scheduling_key_under_a_component():
    keys = store.read_yaml("values/history.yaml")["perComponent"]
    read = {path for tag in value_paths().tags for path in value_paths().read_paths(tag)}

    assert {path for path in read if path.rpartition(".")[2] in keys} == {
        "operator.tolerations",
        "operator.affinity",
        "operator.priorityClassName",
        "operator.nodeSelector",
        "daemonsets.tolerations",
        "daemonsets.priorityClassName",
        "driver.nvidiaDriverCRD.nodeSelector",
    }
