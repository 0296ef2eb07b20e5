"""Policies of another revision come from the repository itself, whatever a pull request puts beside them."""

from __future__ import annotations

import pytest

from support.git_repository import commit_all, git

CONFIG = """[core]
\trepositoryformatversion = 1
\tbare = true
\tfsmonitor = touch {mark}
[extensions]
\tpartialClone = evil
[remote "evil"]
\tpromisor = true
\turl = "ext::sh -c touch% {mark}"
\tfetch = +refs/heads/*:refs/remotes/evil/*
[protocol "ext"]
\tallow = always
"""


@pytest.fixture
def embedded(tmp_path, synthetic_fleet):
    """A project below the root of a repository, with files that make it look like a bare one; and the base."""
    root = tmp_path / "repository" / "project"
    synthetic_fleet(1, 1, root=root)
    commit_all(root.parent)
    base = git(root.parent, "rev-parse", "HEAD")
    for folder in ("objects", "refs/heads"):
        (root / folder).mkdir(parents=True)
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "config").write_text(CONFIG.format(mark=tmp_path / "owned"))
    return root, base


@pytest.mark.parametrize("has_old_git", [False, True])
def test_a_repository_inside_the_project_is_none_and_runs_nothing(
    embedded, run_cli, tmp_path, monkeypatch, has_old_git
):
    root, base = embedded
    if has_old_git:
        monkeypatch.setattr("poolsmith.core.sources.git._SETTINGS", ("core.fsmonitor=false",))

    result = run_cli(["check", "--root", root, "--policies-from", base])

    assert result.code == 2
    assert result.err.startswith("poolsmith: --policies-from: ")
    assert not (tmp_path / "owned").exists()
