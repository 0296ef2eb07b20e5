"""docs/ledger.md: its tables are those of the code, and its commands print what it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from poolsmith.model.reach import Reach, reach_table

PAGE = Path(__file__).parents[2] / "docs/ledger.md"
CONSOLE = re.compile(r"```console\n\$ poolsmith (?P<words>[^\n]+)\n(?P<shown>.*?)```", re.DOTALL)


def cell(text):
    return text.replace("|", "\\|")


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
    }


@pytest.mark.parametrize("name", tables())
def test_a_table_is_that_of_the_code(name):
    text = PAGE.read_text("utf-8")
    begin, end = (f"<!-- {name}:{word} -->\n" for word in ("begin", "end"))
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    table = "".join(f"{line}\n" for line in tables()[name])
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(before + begin + table + end + after, "utf-8")

    assert begin + table + end in PAGE.read_text("utf-8")


def as_pattern(shown):
    """A line of three dots stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.compile("(?:.*\n)*?".join(parts))


@pytest.mark.parametrize("command", [match["words"] for match in CONSOLE.finditer(PAGE.read_text("utf-8"))])
def test_a_command_prints_what_the_page_shows(run_cli, repository, command):
    (shown,) = [match["shown"] for match in CONSOLE.finditer(PAGE.read_text("utf-8")) if match["words"] == command]
    result = run_cli([*command.split(), "--root", repository])

    assert result.code == 0
    assert as_pattern(shown).match(result.out), result.out
