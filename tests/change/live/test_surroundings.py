"""What happens around the stack is told by at most two findings that name the field; harmless twins are not told."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import cache
from itertools import groupby

import pytest

from change.live.conftest import ROOT
from change.live.surroundings import ROWS
from poolsmith.kubernetes.live.snapshot import to_text
from support.live_cluster import recorded_snapshot, told, view

MOST = 2
_LABEL = r'[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"(?P<name>[a-z_]+(?:\{{{_LABEL}(?:,{_LABEL})*\}})?) (?P<value>\d+)")
"""A line of Prometheus' text format."""
PAGE = ROOT / "docs/live.md"
BEGIN, END = "<!-- drifts: made from the tests -->\n", "<!-- end of drifts -->\n"


@cache
def _recorded(name):
    cluster = view(ROOT, name)
    return cluster, recorded_snapshot(cluster)


@pytest.mark.rows(16, "a drift and its twin are of one kind; each is in the circle deep")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_drift_is_told_and_nothing_else_is(row):
    cluster, snapshot = _recorded(row.cluster)
    found = told(cluster, row.change(snapshot))

    assert len(found) == len(row.said) <= MOST, found
    for words in row.said:
        assert [text for text in found if all(word in text for word in words)], found


@pytest.mark.rows(16, "a drift and its twin are of one kind; each is in the circle deep")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.twin_name)
def test_a_harmless_twin_is_not_told(row):
    cluster, snapshot = _recorded(row.cluster)

    assert told(cluster, row.twin(snapshot)) == []


def test_each_kind_has_rows_of_its_own():
    assert len({row.name for row in ROWS}) == len(ROWS) >= 40


def test_what_is_new_since_an_earlier_run_is_told(run_cli, tmp_path):
    _, snapshot = _recorded("edge")
    before, after, kept = (tmp_path / name for name in ("before.json", "after.json", "kept.json"))
    before.write_text(to_text(snapshot))
    row = next(row for row in ROWS if row.name == "Ready is Unknown")
    after.write_text(to_text(row.change(snapshot)))
    verb = ["verify", "edge", "--root", ROOT, "--from"]
    kept.write_text(run_cli([*verb, after, "--format", "json"]).out)

    said = run_cli([*verb, before, "--since", kept]).out
    assert "0 new, 1 gone" in said
    assert "gone since then: `PSM858 edge/flux-system/HelmRelease/edge-gpu-operator`" in said
    assert "0 new, 0 gone, 1 finding as before" in run_cli([*verb, after, "--since", kept]).out
    assert run_cli([*verb, before, "--since", before]).code == 2


def test_a_finding_keeps_the_day_on_which_it_was_first_told(run_cli, tmp_path):
    _, snapshot = _recorded("edge")
    row = next(row for row in ROWS if row.name == "Ready is Unknown")
    first, later, kept = (tmp_path / name for name in ("first.json", "later.json", "kept.json"))
    first.write_text(to_text(replace(row.change(snapshot), taken="2026-11-01T08:00:00Z")))
    later.write_text(to_text(replace(row.change(snapshot), taken="2026-11-20T08:00:00Z")))
    verb = ["verify", "edge", "--root", ROOT, "--from"]
    run_cli([*verb, first, "--output", f"json={kept}"])

    found = run_cli([*verb, later, "--since", kept, "--output", f"json={kept}"])
    assert "older than 7 days: `PSM858" in found.out
    assert "older than" not in run_cli([*verb, later, "--since", kept, "--older-than", "30"]).out
    body = json.loads(kept.read_text())
    assert body["taken"] == "2026-11-20T08:00:00Z"
    assert {item["firstSeen"] for item in body["diagnostics"]} == {"2026-11-01T08:00:00Z"}


@pytest.mark.parametrize("told", ["yesterday", "", "2026-11-20T08:00:00", "9" * 5000])
def test_a_time_that_is_none_is_left_out(run_cli, tmp_path, told):
    _, snapshot = _recorded("edge")
    row = next(row for row in ROWS if row.name == "Ready is Unknown")
    file = tmp_path / "file.json"
    file.write_text(to_text(replace(row.change(snapshot), taken=told)))

    found = run_cli(["verify", "edge", "--root", ROOT, "--from", file, "--format", "json"])
    body = json.loads(found.out)
    assert (found.code, "taken" in body, [item.get("firstSeen") for item in body["diagnostics"]]) == (0, False, [None])


def test_metrics_count_what_the_report_counts(run_cli, tmp_path):
    _, snapshot = _recorded("edge")
    row = next(row for row in ROWS if row.name == "Ready is Unknown")
    file = tmp_path / "file.json"
    file.write_text(to_text(replace(row.change(snapshot), taken="2026-11-01T08:00:00Z")))

    verb = ["verify", "edge", "--root", ROOT, "--from", file, "--format"]
    summary = json.loads(run_cli([*verb, "json"]).out)["summary"]
    lines = run_cli([*verb, "prometheus"]).out.splitlines()
    samples = {match["name"]: int(match["value"]) for match in map(SAMPLE.fullmatch, lines) if match}
    by_severity = [samples[f'poolsmith_open_findings{{severity="{word}"}}'] for word in ("error", "warning", "note")]
    assert len(samples) == sum(not line.startswith("# ") for line in lines)
    assert by_severity == [summary["errors"], summary["warnings"], summary["notes"]]
    assert samples["poolsmith_not_evaluated"] == summary["notEvaluated"]
    assert samples["poolsmith_taken_timestamp_seconds"] == samples["poolsmith_oldest_finding_timestamp_seconds"]
    assert sum(value for name, value in samples.items() if name.startswith("poolsmith_findings{")) == sum(by_severity)


def table():
    """As docs/live.md has it."""
    lines = [
        "| sort | what happens | is reported as | what is like it, and not reported |",
        "| --- | --- | --- | --- |",
    ]
    for sort, rows in groupby(sorted(ROWS, key=lambda row: row.sort), key=lambda row: row.sort):
        for row in rows:
            codes = ", ".join(dict.fromkeys(words[0] for words in row.said))
            lines.append(f"| {sort} | {row.name} | {codes} | {row.twin_name} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_these_rows():
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    held, after = rest.split(END)
    if os.environ.get("UPDATE_DOCS") == "1":
        PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}")
        return
    assert held == table(), "run `UPDATE_DOCS=1 python -m pytest tests/change/live/test_surroundings.py`"
