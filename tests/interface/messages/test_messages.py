"""Each mistake is told with the text that is meant, before all that follows from it, on few lines."""

from __future__ import annotations

import pytest

from interface.messages.mistakes import MISTAKES
from interface.messages.told import GOLDEN, findings, golden_lines, make_project, told

_FOLLOWS = "PSM501"
_MOST_LINES = 8
_PARSERS_WORDS = (
    "while parsing",
    "while scanning",
    "mapping values are not",
    "did not find expected",
    "could not find",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    make_project(root)
    return root


@pytest.fixture(scope="module")
def reviewed():
    blocks = GOLDEN.read_text().rstrip("\n").split("\n\n")
    return {block.partition("  [")[0]: block for block in blocks}


def test_there_are_many_and_each_is_one_of_its_own():
    assert len(MISTAKES) >= 150
    assert len({item.name for item in MISTAKES}) == len(MISTAKES)


def test_the_reviewed_file_has_each_mistake_and_no_other(reviewed):
    assert set(reviewed) == {item.name for item in MISTAKES}


@pytest.mark.rows(80, "each row is a run of check; the others are alike")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda item: item.name)
def test_what_is_told_is_what_was_reviewed(lab, reviewed, mistake):
    code, report = told(lab, mistake)
    found = findings(report)
    body = report.partition("\nchecked ")[0]

    assert code in (0, 1), report
    assert "\n".join(golden_lines(mistake, code, report)) == reviewed[mistake.name]
    assert not mistake.answer or mistake.answer in body
    assert all(len(finding) <= _MOST_LINES for finding in found), report
    assert not any(words in body for words in _PARSERS_WORDS)
    consequences = [number for number, finding in enumerate(found) if f"error {_FOLLOWS} " in finding[0]]
    assert len(consequences) <= 1, "what follows is one line"
    assert not consequences or consequences == [len(found) - 1], "and comes last"
