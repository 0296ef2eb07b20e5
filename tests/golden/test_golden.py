"""Profiles become exactly the committed trees: real YAML, for reviewers and for other tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poolsmith.interface.app import compare, generate

HERE = Path(__file__).resolve().parent
CASES = sorted(path.name for path in HERE.iterdir() if (path / "profiles").is_dir())
LOCK = "poolsmith.lock.json"
WORKLOADS = "expected/workloads.yaml"
"""Not in these trees: recorded runs of the operator hold it, and the sample output shows what it looks like."""


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK and not path.as_posix().endswith(WORKLOADS)
    }


@pytest.mark.parametrize("case", CASES)
def test_a_case_generates_its_tree(case, tmp_path, request):
    shutil.copytree(HERE / case / "profiles", tmp_path / "profiles")
    result = generate(tmp_path)
    assert result.written, [f"{item.primary.span}: {item.message}" for item in result.outcome.diagnostics]
    generated, expected = tree(tmp_path / "output"), HERE / case / "expected"
    if request.config.getoption("--update-golden"):
        shutil.rmtree(expected, ignore_errors=True)
        for path, content in generated.items():
            (expected / path).parent.mkdir(parents=True, exist_ok=True)
            (expected / path).write_bytes(content)
    committed = tree(expected)

    assert sorted(generated) == sorted(committed), "missing or extra files; see --update-golden"
    assert [path for path in generated if generated[path] != committed[path]] == []


def test_every_case_has_profiles_and_a_tree():
    folders = [path for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"]

    assert [path.name for path in folders if not (path / "profiles").is_dir() or not (path / "expected").is_dir()] == []


WAIVED = ("vulnerable-stack",)
"""In policies/waivers.yaml, which `check` reads."""


def test_the_sample_output_is_what_the_sample_profiles_generate(repository):
    result = compare(repository)

    found = [item for item in result.outcome.diagnostics if item.severity != "note"]
    assert [f"{item.primary.span}: {item.message}" for item in found if item.name not in WAIVED] == []
    assert (result.changed, result.removed) == ((), ())
