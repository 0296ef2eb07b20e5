"""Pages that lead through a task do what they say."""

from __future__ import annotations

import re

import pytest

from support.circles import parameters
from support.walks import ROOT, Shell, as_expected, blocks_of, sample_shell, walk

DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
FROM_THE_SAMPLE = (
    "air-gap",
    "kernel-roll",
    "output-elsewhere",
    "provisioners",
    "rings",
    "upgrade",
    "new-mig-pool",
    "moves",
)
"""Walks that begin in a clone of the sample fleet."""
QUICK = ("air-gap", "output-elsewhere", "provisioners", "new-mig-pool")
TAKEOVER = DOCS / "takeover.md"
PAGES = (TUTORIAL, TAKEOVER, *(DOCS / f"{name}.md" for name in FROM_THE_SAMPLE))


@pytest.mark.real("a page with dozens of commands, each a process")
def test_the_tutorial_runs_from_start_to_end(tmp_path):
    assert walk(TUTORIAL, Shell(tmp_path, tmp_path / "gpu-fleet")) > 10, "the page has lost its commands"


@pytest.mark.deep("a page with dozens of commands; the use case has its own tests")
def test_a_running_installation_is_taken_over(tmp_path):
    assert walk(TAKEOVER, Shell(tmp_path, tmp_path / "gpu")) > 7, "the page has lost its commands"


@pytest.mark.deep("pages with dozens of commands over the sample; the tutorial stays")
@pytest.mark.parametrize("name", parameters(QUICK, [name for name in FROM_THE_SAMPLE if name not in QUICK]))
def test_a_walk_through_the_sample_runs_from_start_to_end(tmp_path, name):
    assert walk(DOCS / f"{name}.md", sample_shell(tmp_path)) > 4, "the page has lost its commands"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_skipped_blocks_say_why(page):
    for block in blocks_of(page.read_text("utf-8")):
        if "skip" in block.info:
            assert re.search(r'\bskip="[^"]{10,}"', block.info), f"line {block.line}: skip without a reason"


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ((), "", True),
        ((), "text\n", False),
        (("a", "...", "d"), "a\nb\nc\nd\n", True),
        (("a", "...", "d"), "a\nd\n", True),
        (("a", "...", "d"), "a\nb\n", False),
        (("a.c",), "abc\n", False),
        (("...",), "", True),
        (("... more",), "x more\n", False),
        (("a (...) b",), "a (1) b\n", True),
        (("a (...) b",), "a (1) (2) b\n", False),
    ],
)
def test_three_dots_match_whole_lines_only(expected, printed, same):
    assert as_expected(expected, printed) is same
