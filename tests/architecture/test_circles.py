"""The three circles: which tests a run takes, what it says of those that it leaves, and which rows of a table stay."""

from __future__ import annotations

import re

import pytest

from support.circles import parameters, sentence, share, spread

pytest_plugins = ["pytester"]

TOY = """
import pytest

@pytest.mark.rows(3, "more of the same")
@pytest.mark.parametrize("colour", ["red", "green", "blue"])
@pytest.mark.parametrize("size", [1, 2])
def test_rows(colour, size): ...

@pytest.mark.deep("it takes an hour")
def test_deep(): ...

@pytest.mark.real("needs a control plane")
def test_real(): ...

def test_plain(): ...
"""


@pytest.fixture
def run(pytester, monkeypatch, pytestconfig):
    """Pytest on a toy project, as a process of its own: circles are one for each process."""
    monkeypatch.setenv("PYTHONPATH", str(pytestconfig.rootpath / "tests"))
    pytester.makeini("[pytest]\nmarkers = deep\n  real\n  rows\n")
    pytester.makeconftest('pytest_plugins = ["support.circles"]')

    def start(text, *arguments):
        pytester.makepyfile(test_toy=text)
        result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider", *arguments)
        return result.stdout.str() + result.stderr.str()

    return start


def test_a_run_takes_its_circle_and_says_what_it_left_with_workers_too(run):
    out = run(TOY, "--circle=test", "-n1", "-v")

    assert "4 passed" in out
    assert {colour for colour in ("red", "green", "blue") if re.search(rf"test_rows\[\d-{colour}\]", out)} == {
        "red",
        "green",
        "blue",
    }
    assert "circle `test`; left: 1 test to make test-real, 4 tests to make test-deep" in out


def test_a_real_test_runs_in_its_circle_alone(run):
    out = run(TOY, "--circle=real", "-v")

    assert "test_real PASSED" in out
    assert "1 passed" in out
    assert "circle `real`; left: 4 tests to make test-deep" in out


@pytest.mark.parametrize("marker", ["deep()"])
def test_a_marker_without_a_reason_is_refused(run, marker):
    out = run(f"import pytest\n@pytest.mark.{marker}\ndef test_a(): ...\n", "--circle=test")

    assert f"the marker `{marker.partition('(')[0]}` needs a reason" in out


def test_each_value_of_each_column_is_seen_before_one_is_repeated():
    rows = [{"release": release, "engine": engine} for release in range(6) for engine in range(2)]
    taken = [rows[place] for place in spread(rows, 6)]

    assert {row["release"] for row in taken} == set(range(6))
    assert {row["engine"] for row in taken} == {0, 1}
    assert spread(rows, 99) == list(range(12))
    assert spread(rows, 6) == spread(rows, 6)
    assert spread([], 3) == []


def test_more_wanted_rows_keep_those_of_fewer():
    rows = [{"a": a, "b": b, "c": c} for a in range(3) for b in range(4) for c in range(2)]

    assert all(set(spread(rows, count)) <= set(spread(rows, count + 1)) for count in range(len(rows)))


def marks_of(items):
    return {item.id: [mark.name for mark in item.marks] for item in items}


def test_a_share_is_spread_over_all_cases_and_loses_none():
    found = marks_of(share(range(9), 3))

    assert sorted(found) == [str(number) for number in range(9)]
    assert [name for name, marks in found.items() if not marks] == ["0", "4", "8"]
    assert set(map(tuple, found.values())) == {(), ("deep",)}


def test_a_share_of_few_cases_is_all_of_them():
    assert marks_of(share("ab", 5)) == {"a": [], "b": []}


def test_parameters_are_named_and_the_rest_is_deep_for_its_reason():
    first, rest = parameters([1], [2], lambda item: f"case {item}", "it is long and alike")

    assert (first.id, first.marks) == ("case 1", ())
    assert (rest.id, [mark.args for mark in rest.marks]) == ("case 2", [("it is long and alike",)])


def test_a_run_that_left_nothing_says_nothing():
    from collections import Counter

    assert sentence("deep", Counter()) == ""
    assert sentence("test", Counter(deep=1200)) == "circle `test`; left: 1,200 tests to make test-deep"
