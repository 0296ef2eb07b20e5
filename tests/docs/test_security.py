"""SECURITY.md: each promise names tests that exist and hold it, or the reason why there is none."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")


def rows(title):
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    table = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


PROMISES = rows("What is promised")


@cache
def run_in(path):
    """Names of test functions, and of those that are never run."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    skipped = {node.name for node in found if any("skip(" in ast.unparse(one) for one in node.decorator_list)}
    return {node.name for node in found} - skipped


@pytest.mark.parametrize("row", PROMISES, ids=lambda row: row[0][:60])
def test_each_promise_has_tests_or_a_reason(row):
    promise, held = row
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", held)

    assert len(promise) > 20
    assert named or (held.startswith("no test: ") and len(held) > 60)
    assert [f"{path}::{name}" for path, name in named if not (ROOT / path).is_file() or name not in run_in(path)] == []
    assert len(named) == held.count("::")


@pytest.mark.parametrize("title", ["Who is trusted with what", "What is not promised"])
def test_each_row_is_whole(title):
    found = rows(title)

    assert len(found) > 5
    assert all(len(row) == len(found[0]) and all(row) for row in found)


def test_it_says_how_to_report_and_the_readme_leads_here():
    assert "Report a vulnerability" in PAGE
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text("utf-8")
