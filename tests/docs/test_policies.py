"""docs/policies.md does what it says: its files are written, its commands run, their output compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from poolsmith.kubernetes.cel import engine_problem
from support.code_book import CODE_BOOK

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/policies.md").read_text("utf-8")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = {
    found["info"].partition("file=")[2]: found["body"] for found in FENCE.finditer(PAGE) if "file=" in found["info"]
}
COMMANDS = [
    tuple(found["body"].removeprefix("$ ").split("\n", 1))
    for found in FENCE.finditer(PAGE)
    if found["info"] == "console"
]


@pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")
@pytest.mark.parametrize(("line", "printed"), COMMANDS)
def test_a_command_prints_what_the_page_shows(run_cli, write_files, line, printed):
    root = write_files(FILES)

    result = run_cli(shlex.split(line)[1:], cwd=root)

    assert result.out == printed


def test_the_page_has_files_and_commands():
    assert len(FILES) == 4
    assert len(COMMANDS) == 3


def test_every_code_of_the_page_is_in_the_code_book():
    assert set(re.findall(r"PSM\d{3}", PAGE)) <= {rule.code for rule in CODE_BOOK}
