"""What `init` writes into a repository is what the pages and the published hooks say."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from poolsmith.app.starter.repository_files import repository_files
from poolsmith.app.surroundings import Surroundings
from poolsmith.sources.yaml_reader import read_documents

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "generator/poolsmith/app/starter/github_workflow.yaml"
_WORKFLOW = re.compile(r"<!-- workflow:begin -->\n```yaml\n#[^\n]*\n(.*?)```\n<!-- workflow:end -->", re.DOTALL)


def test_the_workflow_is_the_one_that_the_page_explains_and_a_test_runs():
    found = _WORKFLOW.search((ROOT / "docs/ci.md").read_text("utf-8"))
    assert found is not None
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("CI"):
        TEMPLATE.write_text(found[1], "utf-8")
    assert TEMPLATE.read_text("utf-8") == found[1], "run `UPDATE_DOCS=1 python -m pytest tests/docs`"


@pytest.mark.parametrize("blank", ["branches: [main]", "repository: example/poolsmith", "ref: <full commit id>"])
def test_each_place_that_is_filled_in_is_there_once(blank):
    assert TEMPLATE.read_text("utf-8").count(blank) == 1


def test_the_local_hooks_do_what_the_published_ones_do():
    published = read_documents((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
    file = next(item for item in repository_files(Surroundings(), "main") if item.path == ".pre-commit-config.yaml")
    local = read_documents(file.text)[0]["repos"][0]["hooks"]
    compared = ("id", "name", "entry", "always_run", "pass_filenames", "require_serial")
    assert [{key: hook[key] for key in compared} for hook in local] == [
        {key: hook[key] for key in compared} for hook in published
    ]
