"""An upgrade of poolsmith is told apart from what profiles change: by the locks, and by the base generated anew."""

from __future__ import annotations

import json

import pytest

from support.git_repository import commit_all, git

LOCK = "output/clusters/edge/poolsmith.lock.json"
README = "output/clusters/edge/README.md"


@pytest.fixture
def project(sample_project, run_cli):
    """Committed as another version wrote it: with another README, and a lock that says so."""
    run_cli(["generate", "--root", sample_project])
    git(sample_project, "init", "-q")
    lock = json.loads((sample_project / LOCK).read_text())
    lock["tool"], lock["files"]["README.md"] = "poolsmith 0.0.9", "sha256:" + "0" * 64
    (sample_project / LOCK).write_text(json.dumps(lock))
    commit_all(sample_project)
    return sample_project


def told(run_cli, root):
    report = json.loads(run_cli(["diff", "--base", "HEAD", "--root", root, "--format", "json"]).out)
    return [item["words"] for one in report["clusters"] for item in one["release"] if item["kind"] == "tool"]


def test_what_another_version_writes_is_told_with_both(run_cli, project):
    run_cli(["generate", "--root", project])

    (words,) = told(run_cli, project)
    assert words.startswith("`poolsmith 0.0.9` wrote the output so far, and `poolsmith ")
    assert words.endswith(" writes 1 file of it otherwise from the same profiles: `README.md`")


def test_what_profiles_change_beside_it_is_not_counted(run_cli, project):
    path = project / "profiles/edge/cluster.yaml"
    text = path.read_text()
    path.write_text(
        text.replace("release: v26.7.0\n", "release: v26.7.0\n    values: {dcgmExporter: {hostNetwork: true}}\n")
    )
    assert path.read_text() != text
    run_cli(["generate", "--root", project])

    (words,) = told(run_cli, project)
    assert " writes 1 file of it otherwise" in words


def test_an_output_that_is_still_the_old_one_says_nothing(run_cli, project):
    (project / "profiles/edge/l4.yaml").write_text((project / "profiles/edge/l4.yaml").read_text() + "# words\n")

    assert told(run_cli, project) == []


@pytest.mark.parametrize(
    "text", ["", "{", '{"version": 1, "files": {}, "tool": {}}', '{"version": 2, "files": {}}', "[" * 9_000]
)
def test_no_lock_of_the_base_breaks_it(run_cli, project, text):
    (project / LOCK).write_text(text)
    git(project, "commit", "-qam", "broken")
    run_cli(["generate", "--root", project])
    result = run_cli(["diff", "--base", "HEAD", "--root", project])

    assert result.code in (0, 1)
    assert "Traceback" not in result.err


def test_a_change_without_an_upgrade_has_none(run_cli, sample_project):
    run_cli(["generate", "--root", sample_project])
    commit_all(sample_project)
    path = sample_project / "profiles/edge/cluster.yaml"
    path.write_text(path.read_text().replace("release: v26.7.0\n", "release: v26.3.3\n"))
    run_cli(["generate", "--root", sample_project])

    assert told(run_cli, sample_project) == []
