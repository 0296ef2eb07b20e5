"""docs/links.md: the table of needs and offers is made of the catalog's and of the rules."""

from __future__ import annotations

import os
import re
from pathlib import Path

from poolsmith.core.facts import store
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.rule_book import rule_book

ROOT = Path(__file__).parents[2]
PAGE, RULES = ROOT / "docs/links.md", ROOT / "generator/poolsmith/guard/rules"
HEAD = "| what needs a name | what supplies it | rule | known from |\n| --- | --- | --- | --- |\n"
TABLE = re.compile(r"^\| what needs a name \|.*?\n(?=\n)", re.MULTILINE | re.DOTALL)
ROWS = store.read_yaml("links.yaml")["links"]
BOOK = {rule.code: rule for rule in rule_book()}
OF_FORM = frozenset(("PSM142", "PSM751", "PSM760", "PSM762", "PSM767", "PSM768", "PSM769", "PSM943"))
"""What a field says by itself: nothing has to supply it."""

ALONE = {
    **dict.fromkeys(("PSM421", "PSM753", "PSM755"), "the labels of a namespace, which is there"),
    **dict.fromkeys(("PSM423", "PSM752", "PSM783"), "amounts, and what a quota counts"),
    **dict.fromkeys(("PSM765", "PSM778", "PSM930", "PSM937"), "releases, and their order: each name is there"),
    **dict.fromkeys(("PSM784", "PSM786", "PSM787"), "what a pod lacks by itself"),
    **dict.fromkeys(("PSM938", "PSM941"), "what schedulers read and machines have, which is there"),
    "PSM942": "groups of OLM, which are there",
    "PSM944": "projects of Argo CD, which are there",
    "PSM946": "what the toolkit does with a runtime, by release",
    "PSM588": "paths of files, which are there or not",
    "PSM809": "templates of nodes beside the profile that they are for",
}
"""Rules of the table that compare what is supplied, and don't ask whether it is; with what they look at."""
ASKS = re.compile(r"\bState\.[A-Z]")


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


def test_who_supplies_a_name_is_asked_of_the_verdict_alone():
    """By the code of each rule: that it looks at the state of a need. What is new in the table has to, or says why not."""
    named = {code for row in ROWS for code in row["rules"]} - OF_FORM
    alone = {code for code, path in modules().items() if code in named and not ASKS.search(path.read_text("utf-8"))}

    assert alone == set(ALONE), (sorted(alone - set(ALONE)), sorted(set(ALONE) - alone))


def modules():
    found = (
        (re.search(r'^RULE = RuleInfo\.of\("(PSM\d+)"\)', path.read_text("utf-8"), re.MULTILINE), path)
        for path in RULES.rglob("*.py")
    )
    return {match[1]: path for match, path in found if match}
