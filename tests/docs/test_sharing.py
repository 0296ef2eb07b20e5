"""The page on sharing: its example is taken at its word, its commands print what it shows, its rules exist."""

from __future__ import annotations

import re
from pathlib import Path

from poolsmith.rules.rule_book import rule_book
from poolsmith.sources.yaml_reader import read_documents

PAGE = (Path(__file__).parents[2] / "docs/sharing.md").read_text("utf-8")
FILES = {found[1]: found[2] for found in re.finditer(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)}
(WALK,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


def test_the_commands_print_what_the_page_shows(write_files, run_cli):
    root = write_files(FILES)
    for step in WALK.split("$ poolsmith ")[1:]:
        command, *shown = step.splitlines()
        run = run_cli([*command.split(), "--root", root])
        assert run.code == 0
        printed = f"{run.out}\n{run.err}".splitlines()
        assert [line for line in shown if line not in printed] == []


def test_the_example_shares_both_sizes_and_has_its_layout(write_files, run_cli):
    root = write_files(FILES)
    run_cli(["generate", "--root", root])
    platform = root / "output/clusters/lab/platform"
    (config,) = read_documents((platform / "device-plugin-config.yaml").read_text())
    (layouts,) = read_documents((platform / "mig-layouts.yaml").read_text())

    assert "nvidia.com/mig-2g.20gb" in config["data"]["notebooks"]
    assert "notebooks:" in layouts["data"]["config.yaml"]
    for item in (config, layouts):
        assert re.search(r"-[0-9a-f]{8}\Z", item["metadata"]["name"])


def test_the_rules_that_it_names_are_rules():
    assert set(re.findall(r"PSM\d{3}", PAGE)) <= {rule.code for rule in rule_book()}
