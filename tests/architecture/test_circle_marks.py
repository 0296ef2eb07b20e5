"""What a marker says is read from the text, for pages and for people: each has its reason, and nothing is skipped unsaid."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.circle_marks import TESTS, circles_of, in_words, markers, names_of, parsed
from support.unproved import remedy

FILES = sorted(TESTS.rglob("*.py"))
OWN = TESTS / "support/circles.py"
WORDS = 3
WRITTEN = re.compile(r"mark\.(?:deep|real|rows)\b")
SKIPPED = re.compile(r"\b(?:skip|skipif|importorskip|xfail)\(")


def shown(path, line):
    return f"{path.relative_to(TESTS).as_posix()}:{line}"


def test_every_marker_of_a_circle_has_a_reason_of_some_words():
    short = [
        f"{shown(path, marker.line)}: {marker.name}"
        for path in FILES
        if path != OWN and WRITTEN.search(path.read_text("utf-8"))
        for marker in markers(path)
        if marker.reason is None or len(marker.reason.split()) < WORDS
    ]

    assert short == []


def text_of(node, path):
    """A reason as it is written; what is put in stands as the name of a variable."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "IT" for part in parts)
        case ast.Name(id=name) if name in names_of(path):
            return text_of(names_of(path)[name][1], path)
    return None


def skips(path):
    """Each reason why a file skips tests, with its line; none where it can't be read."""
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in ("skip", "skipif", "importorskip", "xfail") and ast.unparse(node.func).startswith(
            "pytest."
        ):
            reasons = [item.value for item in node.keywords if item.arg == "reason"] or node.args[-1:]
            yield node.lineno, text_of(reasons[0], path) if reasons else None, ast.unparse(node)


def test_no_test_is_skipped_for_what_the_last_line_of_a_run_does_not_know():
    unknown = [
        f"{shown(path, line)}: {reason or call}"
        for path in FILES
        if SKIPPED.search(path.read_text("utf-8"))
        for line, reason, call in skips(path)
        if (remedy(reason) == reason if reason else "problem" not in call)
    ]

    assert unknown == []


TOY = """
import pytest
from hypothesis import given, settings
from support.circles import DEEP, parameters, share

SLOW = pytest.mark.real("needs a control plane")
TABLE = share(range(9), 2)
COUNT = 9 if DEEP else 2

def test_plain(): ...
@SLOW
def test_real(): ...
@pytest.mark.deep("it takes an hour")
@SLOW
def test_deep(): ...
@pytest.mark.rows(2, "more of the same")
@pytest.mark.parametrize("a", range(9))
def test_rows(a): ...
@pytest.mark.parametrize("a", TABLE)
def test_shared(a): ...
@SLOW
@pytest.mark.parametrize("a", parameters([1], [2]))
def test_real_shared(a): ...
@pytest.mark.parametrize("a", [1, pytest.param(2, marks=SLOW)])
def test_a_row_is_real(a): ...
def test_counted(): assert COUNT
@given()
def test_examples(): ...
@settings(max_examples=5)
@given()
def test_examples_by_number(): ...
"""


def test_circles_are_read_where_markers_stand(tmp_path):
    (tmp_path / "test_toy.py").write_text(TOY)
    (tmp_path / "test_all.py").write_text(
        'import pytest\npytestmark = [pytest.mark.deep("all of it is long")]\ndef test_a(): ...\n'
    )

    assert {name: in_words(circles) for name, circles in circles_of(tmp_path / "test_toy.py").items()} == {
        "test_plain": "test",
        "test_real": "real",
        "test_deep": "deep",
        "test_rows": "test (a sample), deep",
        "test_shared": "test (a sample), deep",
        "test_real_shared": "real (a sample), deep",
        "test_a_row_is_real": "test (a sample), real",
        "test_counted": "test (a sample), deep",
        "test_examples": "test (a sample), deep",
        "test_examples_by_number": "test",
    }
    assert circles_of(tmp_path / "test_all.py") == {"test_a": {"deep"}}


@pytest.mark.parametrize(("text", "reason"), [("", None), ('"long"', "long"), ('"it takes long"', "it takes long")])
def test_a_reason_is_the_last_text_of_a_marker(tmp_path: Path, text, reason):
    (tmp_path / "test_toy.py").write_text(f"import pytest\n@pytest.mark.deep({text})\ndef test_a(): ...\n")

    assert [marker.reason for marker in markers(tmp_path / "test_toy.py")] == [reason]
