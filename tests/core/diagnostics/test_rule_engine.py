"""Rules of any kind are run alike, and none of them hides what others find."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from poolsmith.core.diagnostics import Location, Position, RuleInfo, Severity, Span
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE, Finding, findings_of, run_rules

MOST = MOST_OF_ONE_RULE


def line(number, path="a.yaml"):
    return Location(span=Span(path=path, start=Position(number, 1)))


@pytest.fixture
def rule():
    def make(code, findings):
        info = RuleInfo(code=code, name=code.lower(), severity=Severity.WARNING, fix="the rule's own")
        return SimpleNamespace(RULE=info, check=lambda _view: iter(findings))

    return make


def many(count, path="a.yaml", **more):
    return [Finding(message=f"{path} {number}", place=line(number + 1, path), **more) for number in range(count)]


def messages(diagnostics):
    return [item.message for item in diagnostics]


def test_a_finding_has_what_its_rule_and_its_view_say_where_it_says_nothing(rule):
    own = Finding(message="own", place=line(2), help="h", subject="s", severity=Severity.NOTE, related=(line(3),))
    plain, told = run_rules([rule("A", [Finding(message="plain", place=line(1)), own])], None, "view")

    assert (plain.code, plain.severity, plain.help, plain.subject) == ("A", "warning", "the rule's own", "view")
    assert (told.severity, told.help, told.subject, told.related) == ("note", "h", "s", (line(3),))


@pytest.mark.parametrize("count", [0, 1, MOST])
def test_so_many_findings_are_told_one_by_one(rule, count):
    assert len(run_rules([rule("A", many(count))], None)) == count


def test_of_more_the_rest_is_counted_where_the_last_one_stands_and_the_next_rule_has_its_say(rule):
    hidden = [*many(MOST), *many(2), Finding(message="worst", place=line(9), severity=Severity.ERROR)]
    found = run_rules([rule("A", hidden), rule("B", many(1))], None, "view")

    assert len(found) == MOST + 2
    assert found[MOST].message == "3 more findings of `a` are not shown"
    assert found[MOST].primary == found[MOST - 1].primary
    assert (found[MOST].severity, found[MOST].subject) == (Severity.ERROR, "view")
    assert found[-1].code == "B"


def test_in_a_tree_of_files_each_file_has_its_share(rule):
    both = [*many(MOST + 1, "a.yaml"), *many(MOST, "b.yaml")]

    assert len(run_rules([rule("A", both)], None)) == MOST + 1
    assert Counter(item.primary.span.path for item in run_rules([rule("A", both)], None, by_file=True)) == {
        "a.yaml": MOST + 1,
        "b.yaml": MOST,
    }


def test_views_that_stand_in_one_file_share_what_is_shown(rule):
    shown = Counter()
    first, second = (list(findings_of([rule("A", many(MOST - 10))], None, shown=shown)) for _ in range(2))

    assert (len(first), len(second)) == (MOST - 10, 11)
    assert second[-1].finding.message == f"{MOST - 20} more findings of `a` are not shown"
