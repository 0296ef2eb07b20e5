"""CONTRIBUTING.md: its map is the order that import-linter checks, fits one screen, and every path on it exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.walks import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGE = ROOT / "generator/poolsmith"
MAP = PAGE.partition("## The map\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$", MAP, re.MULTILINE)
CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}
LOOKED_FOR = (
    "where an image tag is made",
    "where a hostPath becomes a privilege",
    "where a node's labels are read",
    "where a rule is added",
    "where the Markdown of a pull request is written",
    "where a chart's version is added",
)
SCREEN = 40


def order(contract):
    return CONTRACTS[contract]["layers"][::-1]


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def test_the_map_names_the_wings_in_the_order_of_their_imports():
    assert [wing for wing, *_ in ROWS] == [*order("wings"), "data"]


@pytest.mark.parametrize("row", ROWS, ids=[wing for wing, *_ in ROWS])
def test_a_row_is_one_question_the_packages_in_their_order_and_where_to_start(row):
    wing, question, packages, start = row

    assert question.count("?") == 1
    assert question.endswith("?")
    assert quoted(packages) == ([] if wing == "data" else order(wing))
    assert len(quoted(start)) == 1
    assert start.startswith(f"`{wing}/")


def test_the_map_fits_one_screen():
    assert len(MAP.strip().splitlines()) <= SCREEN


@pytest.mark.parametrize("wanted", LOOKED_FOR)
def test_a_newcomer_finds_it_without_searching(wanted):
    (place,) = re.findall(rf"^\| {wanted}[^|]* \| ([^|]+) \|$", MAP, re.MULTILINE)

    assert quoted(place) or "](docs/" in place


def is_there(path):
    """As the page writes it: from the root of the repository, or from the package."""
    return (ROOT / path).exists() or (PACKAGE / path).exists()


def test_each_path_exists():
    paths = [word for word in quoted(PAGE) if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*/?", word) and "/" in word]

    assert len(paths) > 50
    assert [path for path in paths if not is_there(path)] == []


def test_each_page_that_is_linked_exists():
    links = [Path(link) for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", PAGE)]

    assert [link.as_posix() for link in links if not (ROOT / link).exists()] == []
