"""A finding about a committed line names the commit that last changed it; one about another line names none."""

from __future__ import annotations

import subprocess

import pytest

from poolsmith.core.diagnostics import Location, Position, RuleInfo, Span, diagnose
from poolsmith.interface.app.live.last_changes import with_last_changes

FILE = "profiles/a/pool.yaml"


@pytest.fixture
def committed(tmp_path):
    """A folder with two commits of one file, and the id of each."""
    file = tmp_path / FILE
    file.parent.mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    ids = []
    for text, day in (("one\ntwo\n", "2026-11-01"), ("one\nTWO\n", "2026-11-02")):
        file.write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "-m", "a change", day=f"{day}T08:00:00Z")
        ids.append(git(tmp_path, "rev-parse", "HEAD").strip())
    return tmp_path, ids


def git(folder, *arguments, day="2026-11-01T08:00:00Z"):
    names = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
    command = ("git", "-C", str(folder), *arguments)
    return subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", **names, **dates}, check=True, capture_output=True, text=True
    ).stdout


def said(root, path, line):
    rule = RuleInfo(code="PSM999", name="a-rule")
    place = Location(span=Span(path=path, start=Position(line, 1)))
    (found,) = with_last_changes(root, (diagnose(rule, "a line", place),))
    return [location.note for location in found.related]


def test_each_line_has_the_commit_that_changed_it(committed):
    root, (first, second) = committed

    assert said(root, FILE, 1) == [f"last changed in commit {first[:12]} of 2026-11-01"]
    assert said(root, FILE, 2) == [f"last changed in commit {second[:12]} of 2026-11-02"]


def test_a_line_that_is_not_committed_has_none(committed):
    root, _ = committed
    (root / FILE).write_text("one\nthree\n")

    assert said(root, FILE, 2) == []
    assert said(root, "profiles/a/other.yaml", 1) == []


def test_a_folder_without_a_repository_has_none(tmp_path):
    assert said(tmp_path, FILE, 1) == []


def test_a_program_of_the_repository_is_not_run(committed):
    root, _ = committed
    (root / ".gitattributes").write_text("*.yaml diff=hostile filter=hostile\n")
    for key in ("diff.hostile.textconv", "filter.hostile.clean"):
        git(root, "config", key, f"touch {root}/ran; cat")

    said(root, FILE, 1)
    assert not (root / "ran").exists()
