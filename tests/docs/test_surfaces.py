"""The page of rules by surface is made of the table, and the table is what the rules do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from docs.surface_table import surface_page
from poolsmith.core.diagnostics.known_rules import COMPATIBILITY
from poolsmith.gpu.values.registry import OF_DRIVER, OF_POLICY, VALUE_RULES
from poolsmith.guard.rules.rule_book import rule_book
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.surfaces import YES, columns, reasons, rule_surfaces
from poolsmith.interface.app import check_paths

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/surfaces.md"
RULES_OF_TESTS = ROOT / "tests/guard/rules"
TEXTS = ("PSM540", "PSM541", "PSM542", "PSM581")
VALUES = ("HelmRelease", "Application", "HelmChart")
TABLE = rule_surfaces()
BY_REGISTRY = {rule.RULE.code for rule in (*OF_POLICY, *OF_DRIVER)}


def test_the_page_is_made_of_the_table():
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        PAGE.write_text(surface_page(), "utf-8")
    assert PAGE.read_text("utf-8") == surface_page(), "run `make docs`"


def test_every_rule_on_a_configuration_has_its_row():
    wanted = {
        rule.code
        for rule in rule_book()
        if rule.code.startswith(COMPATIBILITY) or rule.applies_to in ("values", "setup") or rule.code in TEXTS
    }

    assert set(TABLE) == wanted


@pytest.mark.parametrize("code", sorted(TABLE))
def test_an_empty_cell_has_a_rule_that_speaks_there_or_a_reason(code):
    for column, cell in TABLE[code].items():
        if cell.startswith("PSM"):
            other = TABLE.get(cell)
            assert other is None or other[column] == YES or YES in other.values(), f"{cell} says nothing of {column}"
            assert cell in {rule.code for rule in rule_book()}
        else:
            assert cell == YES or cell in reasons()


def test_every_reason_is_one_that_is_given():
    given = {cell for cells in TABLE.values() for cell in cells.values()}

    assert set(reasons()) <= given


def test_rules_over_values_hold_for_profiles_and_where_they_are_listed_for_resources():
    for rule in VALUE_RULES:
        cells = TABLE[rule.RULE.code]
        assert cells["profile"] == cells["values"] == YES
        assert cells["object"] == YES or rule.RULE.code not in BY_REGISTRY


def surface_of(folder, path, pointer):
    """What kind of file a place is in."""
    if path.startswith("profiles/"):
        return "profile"
    if path == "nodes.yaml":
        return "node"
    documents = list(yaml.safe_load_all((folder / path).read_text("utf-8")))
    kinds = {item.get("kind") for item in documents if isinstance(item, dict)}
    if not kinds & {None, *VALUES}:
        return "object"
    return "values" if "/values" in pointer or kinds == {None} else "object"


def spoken(folder, name):
    nodes, profiles, release = folder / "nodes.yaml", folder / "profiles", folder / "release"
    found = check_paths(
        folder,
        [path for path in sorted(folder.iterdir()) if path not in (nodes, profiles, release) and path.suffix != ".txt"],
        nodes=nodes if nodes.exists() else None,
        cluster=next((item.name for item in profiles.glob("[a-z]*") if item.is_dir()), None),
        release=release.read_text("utf-8").strip() if release.exists() else None,
        everything=True,
    ).diagnostics
    places = [place for item in found if item.name == name for place in (item.primary, *item.related)]
    return {surface_of(folder, place.span.path, place.pointer) for place in places if place.span.path}


def is_project(folder):
    return (folder / "profiles").is_dir() and not any(
        path for path in folder.iterdir() if path.name != "profiles" and path.suffix != ".txt"
    )


OWN = sorted({rule.RULE.name: rule.RULE.code for rule in SETUP_RULES}.items())


@pytest.mark.parametrize(("name", "code"), OWN)
def test_where_an_example_speaks_the_table_says_so(name, code):
    folders = [RULES_OF_TESTS / which / name / "fail" for which in ("examples", "twins")]
    places = {
        place for folder in folders if folder.is_dir() and not is_project(folder) for place in spoken(folder, name)
    }

    assert places
    assert places <= {column for column in columns() if TABLE[code][column] == YES}
