"""Each rule over manifests and over Helm values on files that pass, and on files that violate just that rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.app import check_paths
from poolsmith.check.registry import RULES
from poolsmith.check.values.registry import VALUE_RULES

HERE = Path(__file__).resolve().parent
NAMES = sorted(rule.RULE.name for rule in (*RULES, *VALUE_RULES))


def findings(folder):
    found = check_paths(folder, [folder]).diagnostics
    return sorted(f"{item.primary.span} {item.name}" for item in found if item.name != "kind-without-schema")


@pytest.mark.parametrize("name", NAMES)
def test_what_passes_raises_nothing(name):
    assert findings(HERE / name / "pass") == []


@pytest.mark.parametrize("name", NAMES)
def test_what_fails_raises_this_rule_alone_at_the_expected_lines(name):
    folder = HERE / name / "fail"
    expected = [line for path in folder.rglob("*.txt") for line in path.read_text("utf-8").splitlines()]

    assert expected
    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings(folder) == sorted(expected)


def test_every_rule_has_its_folder_and_no_folder_is_an_orphan():
    assert sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__") == NAMES
