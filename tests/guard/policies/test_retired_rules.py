"""A rule that is a part of another now: what names it goes on working, and says the new one."""

from __future__ import annotations

import datetime as dt

import pytest

from poolsmith.core.diagnostics import Diagnostic, Location, Severity, Span
from poolsmith.core.diagnostics.known_rules import RETIRED, former_codes, known_rules, retired_code
from poolsmith.guard.policies.baseline import PlacedEntry, accept, rewritten, standing_fingerprint
from poolsmith.guard.policies.baseline_file import BaselineEntry
from poolsmith.guard.rules.rule_book import find_rule, rule_book

TODAY = dt.date(2026, 11, 27)
CODES = {rule.code for rule in rule_book()}


@pytest.mark.parametrize(("code", "name", "now"), RETIRED)
def test_a_retired_code_leads_to_a_rule_that_there_is(code, name, now):
    assert code not in CODES
    assert now in CODES
    assert known_rules()[code] is known_rules()[name] is known_rules()[now]
    assert find_rule(code) == find_rule(name) == find_rule(now)
    assert (retired_code(name), retired_code(code.lower()), retired_code(now)) == (code, code, "")
    assert code in former_codes(now)


def finding(code, name):
    place = Location(span=Span(path="a.yaml"), pointer="/spec")
    return Diagnostic(code=code, name=name, severity=Severity.ERROR, message="it is so", primary=place)


@pytest.mark.parametrize("word", ["PSM764", "gke-runtime-source"])
def test_a_baseline_under_the_old_code_accepts_and_is_renewed(word):
    item = finding("PSM282", "runtime-config-source-missing")
    entry = BaselineEntry(
        rule=word,
        file="a.yaml",
        fingerprint=standing_fingerprint(finding("PSM764", "gke-runtime-source")),
        finding="it is so",
        reason="we move in January",
        expires="2027-01-31",
        count=1,
    )
    accepted = accept([item], [PlacedEntry(entry=entry, place=item.primary)], today=TODAY, was_looked_at=lambda _: True)
    again = rewritten([item], [entry], today=TODAY, was_looked_at=lambda _: True)

    assert (accepted.count, [found.is_waived for found in accepted.diagnostics]) == (1, [True])
    assert [(found.rule, found.reason) for found in again.entries] == [("PSM282", "we move in January")]
    assert not again.added
    assert not again.removed
