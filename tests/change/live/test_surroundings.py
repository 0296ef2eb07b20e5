"""What happens around the stack is told by at most two findings that name the field; harmless twins are not told."""

from __future__ import annotations

import os
from functools import cache
from itertools import groupby

import pytest

from change.live.conftest import ROOT
from change.live.surroundings import ROWS
from poolsmith.kubernetes.live.snapshot import to_text
from support.live_cluster import recorded_snapshot, told, view

MOST = 2
PAGE = ROOT / "docs/live.md"
BEGIN, END = "<!-- drifts: made from the tests -->\n", "<!-- end of drifts -->\n"


@cache
def _recorded(name):
    cluster = view(ROOT, name)
    return cluster, recorded_snapshot(cluster)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_drift_is_told_and_nothing_else_is(row):
    cluster, snapshot = _recorded(row.cluster)
    found = told(cluster, row.change(snapshot))

    assert len(found) == len(row.said) <= MOST, found
    for words in row.said:
        assert [text for text in found if all(word in text for word in words)], found


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


def table():
    """As docs/live.md has it."""
    lines = ["| sort | what happens | is told as | what is like it, and not told |", "| --- | --- | --- | --- |"]
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
