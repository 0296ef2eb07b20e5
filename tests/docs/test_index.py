"""The pages are a tree: each stands in one place of the index, and another page leads to it, too."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from support.walks import ROOT

DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
PAGES = sorted(path.name for path in DOCS.glob("*.md") if path != INDEX)
TASKS = ["Start", "Everyday work", "Review", "Operate", "Reference", "How it is built"]
_ROW = re.compile(r"^\| \[(?P<name>[\w.-]+)\]\((?P<target>[\w.-]+)\) \| \S.+ \|$", re.MULTILINE)
_TO_PAGE = re.compile(r"\]\((?:docs/|\.\./)?(?P<name>[\w-]+\.md)(?:#[^)]*)?\)")


def test_each_page_stands_in_one_place_of_the_tree():
    rows = [row.groupdict() for row in _ROW.finditer(INDEX.read_text("utf-8"))]

    assert all(row["name"] == row["target"] for row in rows)
    assert Counter(row["name"] for row in rows) == Counter(PAGES)


def test_the_tree_is_one_of_tasks():
    assert re.findall(r"^## (.+)$", INDEX.read_text("utf-8"), re.MULTILINE) == TASKS


@pytest.mark.parametrize("page", PAGES)
def test_another_page_leads_there(page):
    others = [path for path in DOCS.glob("*.md") if path not in (INDEX, DOCS / page)]
    others += [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]

    assert any(page in _TO_PAGE.findall(path.read_text("utf-8")) for path in others), "only the README leads there"
