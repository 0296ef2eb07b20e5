"""docs/speed.md has what runs take, as it was counted and measured release by release."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/speed.md"
KEYS = ("modules", "kilobytes", "calls", "files")


def counts():
    yield "| run | modules | code, kB | calls | files | release | why |"
    yield "|---|---|---|---|---|---|---|"
    for entry in json.loads((ROOT / "tests/bench/counts.json").read_text("utf-8")):
        for name, found in entry["runs"].items():
            cells = " | ".join(f"{found[key]:,}" for key in KEYS)
            yield f"| {name} | {cells} | {entry['release']} | {entry['why']} |"


def times():
    history = json.loads((ROOT / "tests/bench/history.json").read_text("utf-8"))
    rows = list(dict.fromkeys(row for entry in history for row in entry["rows"]))
    heads = [f"{entry['release']}, {entry['on']}" for entry in history]
    yield f"| work | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {row} | {' | '.join(cell(entry['rows'].get(row, {})) for entry in history)} |"


def cell(found):
    forms = (
        ("ratio", "{:,.1f}"),
        ("seconds", "{:,.2f} s"),
        ("system", "{:,.2f} s system"),
        ("mebibytes", "{:,.0f} MiB"),
    )
    return ", ".join(form.format(found[key]) for key, form in forms if found.get(key) is not None) or "-"


def test_the_counts_are_those_that_a_test_holds(assert_table):
    assert_table(PAGE, "counts", counts())


def test_the_times_are_those_of_each_release(assert_table):
    assert_table(PAGE, "times", times())
