"""What `init` writes into a repository is what the pages and the published hooks say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.starter_files import repository_files
from poolsmith.project.run.surroundings import Surroundings

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "generator/poolsmith/interface/app"


def test_the_workflow_is_the_example_that_a_test_runs():
    _, _, example = (ROOT / "examples/github/profiles.yaml").read_text("utf-8").partition("\n")
    _held(STARTER / "starter_github.yaml", example)


def test_the_pipeline_is_the_example_that_a_test_runs():
    _held(STARTER / "starter_gitlab.yaml", (ROOT / "examples/gitlab/.gitlab-ci.yml").read_text("utf-8"))


def _held(template, example):
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        template.write_text(example, "utf-8")
    assert template.read_text("utf-8") == example, "run `UPDATE_DOCS=1 python -m pytest tests/docs`"


@pytest.mark.parametrize(
    ("template", "blank", "times"),
    [
        ("starter_github.yaml", "branches: [main]", 1),
        ("starter_github.yaml", "uses: example/poolsmith", 2),
        ("starter_github.yaml", "@<full commit id>", 2),
        ("starter_gitlab.yaml", "https://git.example.com/poolsmith.git", 1),
        ("starter_gitlab.yaml", ": <full commit id>", 1),
    ],
)
def test_each_place_that_is_filled_in_is_there(template, blank, times):
    assert (STARTER / template).read_text("utf-8").count(blank) == times


def test_the_local_hooks_do_what_the_published_ones_do():
    published = read_documents((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
    file = next(item for item in repository_files(Surroundings(), "main") if item.path == ".pre-commit-config.yaml")
    local = read_documents(file.text)[0]["repos"][0]["hooks"]
    compared = ("id", "name", "entry", "always_run", "pass_filenames", "require_serial")
    assert [{key: hook[key] for key in compared} for hook in local] == [
        {key: hook[key] for key in compared} for hook in published if hook["id"] != "poolsmith-lint"
    ], "the last is for repositories without a project"
