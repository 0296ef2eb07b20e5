"""docs/ledger.md: its tables are those of the code, and its commands print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolsmith.change.review.free_names import free_fields
from poolsmith.core.facts import store
from poolsmith.guard.ledger.reach import Reach, reach_table

PAGE = Path(__file__).parents[2] / "docs/ledger.md"
FREE = store.read_own_yaml("review/free_names.yaml")
SHARE = "a share of the node's time and memory"
CONSOLE = re.compile(r"```console\n\$ poolsmith (?P<words>[^\n]+)\n(?P<shown>.*?)```", re.DOTALL)


def cell(text):
    return text.replace("|", "\\|")


def form_cell(form):
    """Words, or all spellings that are taken."""
    words = [f"`{word}`" if word else "nothing" for word in form.split("|")]
    return ", ".join(words) if len(words) > 1 else form


def tables():
    """By the name of the markers around each."""
    return {
        "reaches": [
            "| reach | what it means |",
            "| --- | --- |",
            *(f"| {reach} | {reach.meaning} |" for reach in Reach),
        ],
        "reach": [
            "| privilege | reach | because |",
            "| --- | --- | --- |",
            *(f"| `{cell(row.pattern)}` | {row.reach} | {row.because} |" for row in reach_table()),
        ],
        **{
            name: [
                "| name | value | why |",
                "| --- | --- | --- |",
                *(
                    f"| `{field}` | {form_cell(row['form'])} | {row['why']} |"
                    for field, row in sorted((name, row) for row in rows for name in row["names"])
                ),
            ]
            for name, rows in {
                "free-value": FREE["values"] + FREE["inAny"],
                "free-variable": FREE["variables"],
                "free-metadata": FREE["metadata"],
                "free-monitor": FREE["monitorLabels"],
                "free-argument": FREE["arguments"],
            }.items()
        },
        **{
            name: ["| field | why |", "| --- | --- |", *(f"| `{field}` | {why} |" for field, why in table.items())]
            for name, table in {
                "free-pod": {path: FREE["podFields"].get(path, SHARE) for path in free_fields("podFields")},
                "free-object": FREE["objectFields"],
                "free-kernel": FREE["kernelArguments"],
                "free-text": FREE["texts"],
            }.items()
        },
    }


@pytest.mark.parametrize("name", tables())
def test_a_table_is_that_of_the_code(assert_table, name):
    assert_table(PAGE, name, tables()[name])


@pytest.mark.parametrize("command", [match["words"] for match in CONSOLE.finditer(PAGE.read_text("utf-8"))])
def test_a_command_prints_what_the_page_shows(as_pattern, run_cli, repository, command):
    (shown,) = [match["shown"] for match in CONSOLE.finditer(PAGE.read_text("utf-8")) if match["words"] == command]
    result = run_cli([*command.split(), "--root", repository])

    assert result.code == 0
    assert as_pattern(shown).match(result.out), result.out
