"""The catalog's YAML has twins in JSON where poolsmith is installed. They are read instead, and never say anything else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolsmith.core.facts import store, twins

ROOT = Path(__file__).parents[3]
NAMES = twins.yaml_names()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The catalog's YAML, in a data folder of its own without any twin."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(store.DATA / name, tmp_path / name)
    monkeypatch.setattr(store, "DATA", tmp_path)
    return tmp_path


def all_facts():
    return {name: store.read_own_yaml(name) for name in NAMES}


def no_yaml(content):
    raise AssertionError(f"parsed: {content[:60]}")


def test_with_twins_and_without_them_the_catalog_is_the_same(data, monkeypatch):
    without = all_facts()
    made = twins.write_twins(data)

    monkeypatch.setattr(store, "_parsed", no_yaml)
    assert all_facts() == without
    assert json.dumps(all_facts()) == json.dumps(without), "the order of keys too"
    assert len(made) == len(NAMES) == len(set(made))


def test_no_twin_is_committed():
    tracked = subprocess.run(
        ["git", "ls-files", "generator/poolsmith/data"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()

    assert "/generator/poolsmith/data/compiled/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert [path for path in tracked if "/compiled/" in path] == []


def test_twins_of_files_that_are_gone_are_removed_and_nothing_half_written_is_left(data):
    twins.write_twins(data)
    (data / "gpus.yaml").unlink()
    twins.write_twins(data)

    assert sorted(path.name for path in (data / "compiled").iterdir()) == sorted(
        store.twin_of(name).removeprefix("compiled/") for name in NAMES if name != "gpus.yaml"
    )


def test_an_edited_file_counts_more_than_its_twin(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "DATA", tmp_path)
    (tmp_path / "facts.yaml").write_text("a: 1\n")
    (tmp_path / "compiled").mkdir()
    twin = tmp_path / store.twin_of("facts.yaml")
    twin.write_text(store.twin_text("facts.yaml").replace('"a":1', '"a":"from the twin"'))

    assert store.read_yaml("facts.yaml") == {"a": "from the twin"}
    (tmp_path / "facts.yaml").write_text("a: 2\n")
    assert store.read_yaml("facts.yaml") == {"a": 2}
    twin.unlink()
    assert store.read_yaml("facts.yaml") == {"a": 2}


def test_a_twin_that_another_reader_made_is_not_used(data, monkeypatch):
    twins.write_twins(data)
    monkeypatch.setattr(store, "_reader", lambda: b"another")
    monkeypatch.setattr(store, "_parsed", lambda content: {"parsed": len(content)})

    assert all_facts() == {name: {"parsed": (data / name).stat().st_size} for name in NAMES}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'"of"', b'{"of": 1}', b'{"data": {}}', b"\xff\xfe"])
def test_a_damaged_twin_is_not_used(data, damage):
    right = store.read_own_yaml("gpus.yaml")
    (data / "compiled").mkdir()
    (data / store.twin_of("gpus.yaml")).write_bytes(damage)

    assert store.read_own_yaml("gpus.yaml") == right
    twins.write_twins(data)
    assert (data / store.twin_of("gpus.yaml")).read_text("utf-8") == store.twin_text("gpus.yaml")


def test_a_folder_in_place_of_a_twin_is_not_read(data):
    right = store.read_own_yaml("gpus.yaml")
    (data / store.twin_of("gpus.yaml")).mkdir(parents=True)

    assert store.read_own_yaml("gpus.yaml") == right


def test_the_modules_that_make_a_twin_what_it_is_are_all_named():
    program = "import sys; import poolsmith.core.sources.yaml_reader as reader; reader.yaml_nodes.compose; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": str(ROOT / "generator")}
    loaded = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    sources = "poolsmith.core.sources."

    assert sorted(name.removeprefix(sources) + ".py" for name in loaded if name.startswith(sources)) == sorted(
        store.READER
    )
