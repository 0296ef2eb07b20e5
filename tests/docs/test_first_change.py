"""docs/first-change.md: each section is done in a copy of the repository, ends green, and says which files it edits."""

from __future__ import annotations

import re

import pytest

from support.repository_walks import Checkout, sections_of, walk_section
from support.walks import ROOT, blocks_of

PAGE = ROOT / "docs/first-change.md"
TEXT = PAGE.read_text("utf-8")
MOST = {"A rule": 4, "A field of a profile": 2, "A GPU product": 1, "A container runtime": 3, "A release": 3}
"""Files that are edited by hand; what needs more of them has become harder."""


def promised(title):
    """What a section says that it edits."""
    start, end = sections_of(PAGE)[title]
    section = "\n".join(TEXT.splitlines()[start : end - 1])
    (line,) = re.findall(r"^\*\*By hand:\*\*((?:.+\n)+)", section, re.MULTILINE)
    return set(re.findall(r"`([^`]+)`", line))


def done(title, tmp_path):
    touched = walk_section(PAGE, title, Checkout(tmp_path))

    assert touched.commands
    assert touched.by_hand == promised(title)
    assert len(touched.by_hand) <= MOST[title]
    assert not touched.made & touched.by_hand
    return touched


def test_the_walk_of_a_rule_ends_green_with_four_files_by_hand(tmp_path):
    assert done("A rule", tmp_path).made == {"docs/rules.md", "generator/poolsmith/core/diagnostics/rule_table.py"}


def test_each_section_is_walked():
    assert [title for title in sections_of(PAGE) if title != "Before you open a pull request"] == list(MOST)


@pytest.mark.parametrize("block", blocks_of(TEXT), ids=lambda block: f"line-{block.line}")
def test_no_block_is_left_out(block):
    assert "file=" in block.info or block.info.startswith("console")
    assert "skip=" not in block.info
