"""docs/grants.md: its tables are those of the code, and its commands, one after another, print what it shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from docs import field_reference
from poolsmith.guard.ledger.grants.grant import GrantSpec
from poolsmith.guard.ledger.privilege_check import GRANT_RULE_INFOS
from poolsmith.guard.policies.kyverno_exceptions import RULES
from poolsmith.guard.rules.rule_book import find_rule

pytestmark = pytest.mark.sample

PAGE = Path(__file__).parents[2] / "docs/grants.md"
BLOCK = re.compile(r"```(?P<kind>console|text)\n(?P<text>.*?)```", re.DOTALL)


def field_rows():
    return [
        "| field below `spec` | takes | default | meaning |",
        "| --- | --- | --- | --- |",
        *field_reference._rows(GrantSpec, ""),
    ]


def tables():
    """By the name of the markers around each."""
    return {
        "fields": field_rows(),
        "findings": [
            "| finding | severity | when |",
            "| --- | --- | --- |",
            *(
                f"| {rule.code} {rule.name} | {rule.severity} | {find_rule(rule.code).what} |"
                for rule in GRANT_RULE_INFOS
            ),
        ],
    }


@pytest.mark.parametrize("name", tables())
def test_a_table_is_that_of_the_code(assert_table, name):
    assert_table(PAGE, name, tables()[name])


def blocks(kind):
    return [match["text"] for match in BLOCK.finditer(PAGE.read_text("utf-8")) if match["kind"] == kind]


def test_the_commands_print_what_the_page_shows_one_after_another(as_pattern, run_cli, sample_project):
    for text in blocks("console"):
        command, _, shown = text.removeprefix("$ poolsmith ").partition("\n")
        result = run_cli([*command.split(), "--root", sample_project])

        assert as_pattern(shown).match(result.out), result.out


def test_a_new_value_is_reported_as_the_page_shows(run_cli, sample_project, repository):
    shutil.copytree(repository / "policies/privileges", sample_project / "policies/privileges")
    path = sample_project / "profiles/edge/cluster.yaml"
    text = path.read_text("utf-8")
    value = "    values: {dcgmExporter: {hostNetwork: true}}\n"
    path.write_text(re.sub(r"(    release: .*\n)", rf"\g<1>{value}", text, count=1), "utf-8")
    (shown,) = blocks("text")

    assert shown in run_cli(["check", "-v", "--cluster", "edge", "--root", sample_project]).out


def test_the_page_on_kyverno_has_the_rules_and_the_command_of_the_code(run_cli, repository):
    text = (PAGE.parent / "neighbours.md").read_text("utf-8")
    for rule in RULES:
        assert f"| `{rule.policy}` | `{rule.rule}` | `" in text
    command, _, shown = BLOCK.search(text)["text"].removeprefix("$ poolsmith ").partition("\n")
    result = run_cli([*command.split(), "--root", repository])
    assert result.code == 0
    assert result.out.startswith(shown.partition("...")[0])
