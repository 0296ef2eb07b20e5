"""The tool that measures what the tests notice, from places to the table, on a small project."""

from __future__ import annotations

import json

import pytest

from support.git_repository import commit_all
from tools import mutate
from tools.mutation import trial
from tools.mutation.page import BEGIN, END
from tools.mutation.places import Place, read
from tools.mutation.reach import Passing, Reach
from tools.mutation.trial import batches, capped, ordered

MODULE = '''\
"""What fits."""

from functools import cache

SIZES = (
    "s",
    "m",
)


@cache
def sizes():
    return frozenset(SIZES)


def fits(size, count):
    return size in sizes() and count < 9


def unused():
    return not fits("s", 1)
'''
TESTS = """\
import os

import pytest
from poolsmith.boxes.boxes import fits


def test_always_fails():
    assert not fits("s", 1)


def test_a_size_that_is_known():
    assert fits("m", 1)


@pytest.mark.parametrize("size", ["s", "xl"])
def test_a_count(size):
    assert fits(size, 9) is False


def test_something_else():
    assert os.sep
"""


@pytest.fixture
def project(write_files, monkeypatch):
    """A checkout of a project with one commit, whose tests need no plugin."""
    root = write_files(
        {
            "generator/poolsmith/__init__.py": "",
            "generator/poolsmith/boxes/__init__.py": "",
            "generator/poolsmith/boxes/boxes.py": MODULE,
            "tests/boxes/test_boxes.py": TESTS,
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\ntestpaths = ["tests"]\n',
            "docs/mutations.md": f"before\n{BEGIN}old\n{END}after\n",
        }
    )
    commit_all(root)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return root


def test_from_places_to_the_table(project, capsys):
    def run(*arguments):
        assert mutate.main(["--alone", "", *arguments], project) == 0
        return capsys.readouterr().out

    run("places", "--places", "20", "--kinds", "row,comparison,not")
    every = read((project / ".mutations/places.json").read_text())
    places = {place.kind: place for place in every if place.kind != "row" or '"m"' in place.lines[0]}
    told = run("reach", "--pytest", "")
    document = json.loads((project / ".mutations/reach.json").read_text())
    names = list(document["tests"])

    assert document["failing"] == ["tests/boxes/test_boxes.py::test_always_fails"]
    assert "4 tests pass without a fault, 1 fail and notice nothing" in told
    reached = {
        kind: [names[number].partition("::")[2] for number in document["places"][place.id]]
        for kind, place in places.items()
    }
    assert reached["row"] == ["test_a_count[s]", "test_a_count[xl]", "test_a_size_that_is_known"]
    assert reached["not"] == []

    only = ("--only", f"{places['row'].id},{places['not'].id}")
    run("run", "--at-once", "1", *only)
    results = {result.id: result for result in trial.read(project / ".mutations/results.jsonl")}
    assert results[places["not"].id].how == "not reached"
    assert results[places["row"].id].circle == "before"
    assert results[places["row"].id].by == "tests/boxes/test_boxes.py::test_a_size_that_is_known"

    before = (project / ".mutations/results.jsonl").read_text()
    run("run", *only)
    assert (project / ".mutations/results.jsonl").read_text() == before
    assert (project / "generator/poolsmith/boxes/boxes.py").read_text() == MODULE

    run("table", "--write")
    page = (project / "docs/mutations.md").read_text()
    assert page.startswith(f"before\n{BEGIN}2 faults in 1 packages: 1 by the circle `before`, 1 not noticed.\n")
    assert page.endswith(f"{END}after\n")
    assert (
        "| boxes | `generator/poolsmith/boxes/boxes.py` `unused` | not: `not` gone | **not noticed**: no test reaches it |"
        in page
    )


def reach_of(tests):
    return Reach("", {name: Passing("test", seconds) for name, seconds in tests.items()}, (), {})


def test_the_nearest_and_cheapest_tests_come_first_and_one_case_of_each():
    known = reach_of(
        {
            "tests/other/test_all.py::test_all": 0.1,
            "tests/boxes/test_more.py::test_a[1]": 0.2,
            **{f"tests/boxes/test_more.py::test_b[{number}]": 0.01 * number for number in range(1, 6)},
            "tests/boxes/test_fits.py::test_it": 3.0,
        }
    )
    place = Place("", "boxes", "generator/poolsmith/boxes/fits.py", 1, "not", "", (), (), (), (), (0, 0), "", None)

    assert [test.partition("::")[2] for test in ordered(place, list(known.tests), known)] == [
        "test_it",
        "test_b[1]",
        "test_a[1]",
        "test_b[2]",
        "test_b[3]",
        "test_all",
        "test_b[4]",
        "test_b[5]",
    ]


def test_tests_are_run_in_growing_batches_up_to_a_cap():
    known = reach_of({f"test_{number:03}": 1.0 for number in range(200)})
    tests = capped(list(known.tests), known, 120)

    assert [len(batch) for batch in batches(tests, known)] == [8, 40, 72]
    assert capped(["test_001"], known, 0.5) == ["test_001"]
