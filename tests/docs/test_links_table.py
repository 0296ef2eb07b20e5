"""docs/links.md: the table of needs and offers is made of the catalog's and of the rules."""

from __future__ import annotations

import os
import re
from pathlib import Path

from poolsmith.core.facts import store
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.rule_book import rule_book

PAGE = Path(__file__).parents[2] / "docs/links.md"
HEAD = "| what needs a name | what supplies it | rule | known from |\n| --- | --- | --- | --- |\n"
TABLE = re.compile(r"^\| what needs a name \|.*?\n(?=\n)", re.MULTILINE | re.DOTALL)
ROWS = store.read_yaml("links.yaml")["links"]
BOOK = {rule.code: rule for rule in rule_book()}
OF_FORM = frozenset(("PSM751", "PSM760", "PSM762", "PSM767", "PSM768", "PSM769"))
"""What a field says by itself: nothing has to supply it."""


def table():
    """Sources of the first rule of a row that has some."""
    return HEAD + "".join(
        f"| {row['needs']} | {row['offers']} | {', '.join(map(told_by, row['rules']))} | {known_from(row['rules'])} |\n"
        for row in ROWS
    )


def told_by(code):
    return f"`{code}` {BOOK[code].name} ({BOOK[code].severity})"


def known_from(codes):
    found = dict.fromkeys(source for code in codes for source in BOOK[code].references)
    return "; ".join(source.replace("|", "/") for source in found) or "what the files say of each other"


def test_the_table_is_that_of_the_rules():
    text = PAGE.read_text("utf-8")
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        text = TABLE.sub(lambda _: table(), text)
        PAGE.write_text(text, "utf-8")
    assert table() in text, "run `make docs`"


def test_every_rule_of_the_linker_is_in_it():
    named = {code for row in ROWS for code in row["rules"]}
    missing = sorted({rule.RULE.code for rule in LINK_RULES} - named - OF_FORM)

    assert not missing, missing
    assert named <= set(BOOK)
