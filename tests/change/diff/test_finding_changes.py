"""Which findings are new and which are fixed: lines, files and names may change."""

from __future__ import annotations

import pytest

from poolsmith.change.diff.change_findings import finding_changes
from poolsmith.core.diagnostics import Diagnostic, Location, Position, Severity, Span


def finding(message="`a` is bad", path="profiles/lab/a.yaml", line=3, code="PSM404", **more):
    place = Location(span=Span(path=path, start=Position(line, 1)), pointer="/spec")
    values = {"severity": Severity.ERROR, "subject": "lab", **more}
    return Diagnostic(code=code, name="x", message=message, primary=place, **values)


def changes(before, after, **renamed):
    new, fixed = finding_changes(before, after, renamed)
    return len(new), len(fixed)


def test_the_same_one_is_neither():
    assert changes([finding()], [finding()]) == (0, 0)


@pytest.mark.parametrize(
    ("other", "renamed"),
    [
        (finding(line=30), {}),
        (finding(path="profiles/_bases/common.yaml"), {}),
        (finding("`b` is bad", "profiles/lab/b.yaml"), {"a": "b"}),
        (finding("`a` is bad", "profiles/prod/a.yaml", subject="prod"), {"lab": "prod"}),
        (finding("`a-b` is bad", "profiles/lab/a-b.yaml"), {"a": "a-b"}),
    ],
)
def test_places_and_names_may_be_others(other, renamed):
    assert changes([finding()], [other], **renamed) == (0, 0)


def test_releases_may_be_others():
    new, fixed = finding_changes([finding("v26.3.3 has it")], [finding("v26.7.0 has it")], {"v26.3.3": "v26.7.0"})

    assert (new, fixed) == ((), ())


@pytest.mark.parametrize(
    "other",
    [
        finding("`b` is bad"),
        finding(code="PSM405"),
        finding(severity=Severity.WARNING),
        finding(subject="prod"),
        finding(status="waived"),
    ],
)
def test_what_says_something_else_is_new(other):
    assert changes([finding()], [other]) == (1, 1)


def test_a_name_that_is_a_word_of_another_message_does_not_hide_it():
    kept, renamed = finding("the gpu is bad"), finding("`gpu` is bad")

    assert changes([kept, renamed], [kept, finding("`a100` is bad")], gpu="a100") == (0, 0)


def test_one_more_of_the_same_is_one_new_one():
    assert changes([finding()], [finding(), finding(line=9)]) == (1, 0)
    assert changes([finding(), finding(line=9)], [finding()]) == (0, 1)


def test_output_that_stays_out_of_date_is_no_news():
    old, new = (finding(text, "output/clusters/lab", code="PSM501") for text in ("a", "a, b"))

    assert changes([old], [new]) == (0, 0)
