"""What docs/ci.md says about exit codes, hooks and JSON is so."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.initialize import initialize
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.json_v1 import format_json

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")


def test_every_exit_code_has_its_row():
    _, _, section = PAGE.partition("## Exit codes")
    table, _, _ = section.partition("\n`--fail-on")
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == sorted(Exit)


def test_the_json_example_is_what_the_tool_prints(tmp_path, pytestconfig):
    initialize(tmp_path, "lab")
    for profile in (tmp_path / "profiles/lab").iterdir():
        text = re.sub(r" *# TODO assumed.*", "", profile.read_text("utf-8"))
        profile.write_text(text.replace("    source: container", "    sources: container"), "utf-8")
    outcome = generate(tmp_path).outcome
    before, begin, rest = PAGE.partition("<!-- json:begin -->\n```json\n")
    shown, end, after = rest.partition("```\n<!-- json:end -->")
    wanted = format_json(outcome, tool=json.loads(shown)["tool"])
    if pytestconfig.getoption("--update-golden", default=False) or os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("TESTS_RUN_IN_CI"):
            pytest.fail("docs are not rewritten in CI")
        (ROOT / "docs/ci.md").write_text(before + begin + wanted + end + after, "utf-8")
        return
    assert shown == wanted, "run `UPDATE_DOCS=1 python -m pytest tests/docs` and commit docs/ci.md"


@pytest.mark.parametrize("hook", ["poolsmith-generate", "poolsmith-check"])
def test_the_hooks_are_those_that_we_offer(hook):
    from poolsmith.core.sources.yaml_reader import read_documents

    hooks = {item["id"]: item for item in read_documents((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]}
    assert f"| `{hook}` | `{hooks[hook]['entry']}`" in PAGE
    assert hooks[hook]["pass_filenames"] is False
    assert hooks[hook]["require_serial"] is True
