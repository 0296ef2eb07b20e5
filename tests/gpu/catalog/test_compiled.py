"""The catalog's YAML has twins in JSON, which are read instead as long as they say the same."""

from __future__ import annotations

import json
import os

import pytest

from poolsmith.core.facts import store

NAMES = sorted(path.relative_to(store.DATA).as_posix() for path in store.DATA.rglob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_says_what_the_yaml_says(name):
    twin = store.DATA / store.twin_of(name)
    if os.environ.get("UPDATE_CATALOG"):
        twin.parent.mkdir(exist_ok=True)
        twin.write_text(store.compiled(name), "utf-8")

    assert twin.read_text("utf-8") == store.compiled(name), "run `make docs`"


def test_no_twin_is_left_of_a_file_that_is_gone():
    assert sorted(path.name for path in (store.DATA / "compiled").iterdir()) == sorted(
        store.twin_of(name).removeprefix("compiled/") for name in NAMES
    )


def test_an_edited_file_counts_more_than_its_twin(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "DATA", tmp_path)
    (tmp_path / "facts.yaml").write_text("a: 1\n")
    (tmp_path / "compiled").mkdir()
    twin = tmp_path / store.twin_of("facts.yaml")
    twin.write_text(store.compiled("facts.yaml").replace('"a":1', '"a":"from the twin"'))

    assert store.read_yaml("facts.yaml") == {"a": "from the twin"}
    (tmp_path / "facts.yaml").write_text("a: 2\n")
    assert store.read_yaml("facts.yaml") == {"a": 2}
    twin.unlink()
    assert store.read_yaml("facts.yaml") == {"a": 2}


def test_twins_hold_plain_data():
    for name in NAMES:
        assert json.loads(store.compiled(name))["data"] == store.read_yaml(name)
