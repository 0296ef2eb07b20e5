"""Faults of public reports are told at their line, what is right beside them is left alone, and the figure is kept."""

from __future__ import annotations

import pytest

from field.corpus import graver_than_notes, judged, line_of, reports
from poolsmith.core.diagnostics.known_rules import known_rules

ALL = pytest.mark.parametrize("report", [pytest.param(report, id=report.name) for report in reports()])
WITH_TWIN = pytest.mark.parametrize(
    "report", [pytest.param(report, id=report.name) for report in reports() if report.has_twin]
)
FIELDS = {"report", "seen", "wrong", "right", "at", "source", "kinds", "first", "sought", "code", "silent", "correct"}
FIELDS |= {"beside", "project", "nodes", "kubernetes"}
NEEDED = {"report", "seen", "wrong", "right", "source", "kinds", "first"}


@ALL
def test_a_report_says_where_it_is_from_and_what_is_right(report):
    said = set(report.said)

    assert said <= FIELDS
    assert said >= NEEDED
    assert len(said & {"code", "silent", "correct"}) == 1
    assert "at" in said or "correct" in said
    assert report.said["first"] in ("told", "part", "no")
    assert {report.code or "PSM101", *report.beside} <= set(known_rules())


@ALL
def test_the_fault_is_told_at_its_line(report, tmp_path):
    found = judged(report, tmp_path)
    there = {item.code for item in found if line_of(item) == report.said.get("at")}

    assert graver_than_notes(found) - {report.code} <= report.beside
    if report.code is not None:
        assert report.code in there, [f"{line_of(item)} {item.code}" for item in found]
    else:
        assert there <= report.beside, "it is told now: write `code` in place of `silent`"


@WITH_TWIN
def test_the_twin_is_left_alone(report, tmp_path):
    found = judged(report, tmp_path, twin=True)

    assert [item.message for item in found if item.code == report.code] == []
    assert graver_than_notes(found) <= report.beside
