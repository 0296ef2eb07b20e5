"""Our YAML passes the rules that most people lint theirs with."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from support.circles import parameters

REPOSITORY = Path(__file__).resolve().parents[2]
TREES = sorted((REPOSITORY / "tests/golden").glob("*/expected"))
LARGE = [REPOSITORY / "output"]
"""Which `make lint` looks at, too."""
RULES = "{extends: default, rules: {line-length: disable, document-start: disable}}"


@pytest.mark.rows(4, "a row takes 0.16 s; each value of each column is seen first")
@pytest.mark.parametrize("tree", parameters(TREES, LARGE, lambda tree: tree.relative_to(REPOSITORY).as_posix()))
def test_generated_yaml_passes_the_default_rules(tree):
    if importlib.util.find_spec("yamllint") is None:
        pytest.skip("yamllint is not installed")
    from yamllint import linter
    from yamllint.config import YamlLintConfig

    config = YamlLintConfig(RULES)
    found = [
        f"{path.relative_to(REPOSITORY)}:{problem.line}:{problem.column}: {problem.rule} {problem.desc}"
        for path in sorted(tree.rglob("*.yaml"))
        for problem in linter.run(path.read_text("utf-8"), config)
    ]

    assert list(tree.rglob("*.yaml"))
    assert found == []
