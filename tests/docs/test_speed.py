"""docs/speed.md has what runs take, as it was counted and measured release by release."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/speed.md"
KEYS = ("modules", "kilobytes", "calls", "files")


def history():
    return json.loads((ROOT / "tests/bench/counts.json").read_text("utf-8"))


def counts():
    """Of each run the first count and the last, and how far the calls have gone from one to the other."""
    first, last = history()[0]["runs"], history()[-1]["runs"]
    yield "| run | modules | code, kB | calls | files | calls since the first count |"
    yield "|---|---|---|---|---|---|"
    for name, now in last.items():
        before = first.get(name, now)
        cells = " | ".join(f"{before[key]:,} to {now[key]:,}" for key in KEYS)
        yield f"| {name} | {cells} | {now['calls'] / before['calls'] - 1:+.0%} |"


def reasons():
    for entry in history():
        yield f"- {entry['release']}: {entry['why']}"


def times():
    releases = json.loads((ROOT / "tests/bench/history.json").read_text("utf-8"))
    rows = list(dict.fromkeys(row for entry in releases for row in entry["rows"]))
    heads = [f"{entry['release']}, {entry['on']}" for entry in releases]
    yield f"| work | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {row} | {' | '.join(cell(entry['rows'].get(row, {})) for entry in releases)} |"


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
    assert_table(PAGE, "reasons", reasons())


def test_times_are_kept_with_the_peers_of_the_same_run():
    (last, *_) = reversed(json.loads((ROOT / "tests/bench/history.json").read_text("utf-8")))

    assert {"--version", "8 pools: kustomize build of all pools", "one values file: yamllint"} <= last["rows"].keys()
    assert all(found["seconds"] > 0 for found in last["rows"].values())


def test_the_times_are_those_of_each_release(assert_table):
    assert_table(PAGE, "times", times())
