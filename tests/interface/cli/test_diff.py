"""`poolsmith diff`: which base is taken, exit codes, formats, and repositories that it can't or must not read."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from change.diff.projects import A100, as_data, cluster, pool, project
from change.review.conftest import repository_of
from support.git_repository import git

__all__ = ["repository_of"]

CLEAN = project("a", other=("c",))


@pytest.fixture
def repository(repository_of):
    """On `main`, with output that is generated and committed."""
    found = repository_of(CLEAN)
    found.git("branch", "-M", "main")
    return found


@pytest.fixture
def run(run_cli):
    def call(root, *arguments):
        return run_cli(["diff", "--root", root, "--today", "2026-11-20", "--jobs", "1", *arguments])

    return call


def generated(run_cli, repository):
    assert run_cli(["generate", "--no-cache", "--root", repository.root]).code == 0


def test_a_change_of_nothing_is_one_line_and_no_failure(run, repository):
    result = run(repository.root)

    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == 1


def test_comments_alone_do_nothing_once_they_are_generated(run, run_cli, repository):
    generated(run_cli, repository)
    repository.commit()
    repository.write({"profiles/lab/a.yaml": "# why\n" + pool("a")})
    generated(run_cli, repository)
    result = run(repository.root, "--base", "HEAD")

    assert result.code == 0
    assert len(result.out.splitlines()) == 1


def test_the_base_is_where_the_change_left_the_default_branch(run, repository):
    repository.git("checkout", "-q", "-b", "topic")
    repository.write({"profiles/lab/new.yaml": pool("new")})
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.remove("profiles/other")
    repository.commit("another one's")
    repository.git("checkout", "-q", "topic")
    data = as_data(run(repository.root, "--format", "json").out)

    assert data["base"] == {"name": "main", "commit": repository.base}
    assert [item["name"] for item in data["clusters"]] == ["lab"]


@pytest.mark.parametrize("branch", ["main", "master", "trunk"])
def test_the_default_branch_is_the_remotes(run, repository, tmp_path, branch):
    repository.git("branch", "-M", branch)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", repository.top, clone)
    data = as_data(run(clone, "--format", "json").out)

    assert data["base"] == {"name": f"origin/{branch}", "commit": repository.base}


def test_a_checkout_of_a_pull_request_is_detached_and_compared_with_the_remotes_branch(run, repository, tmp_path):
    """What actions/checkout makes: a detached merge commit, with the whole history, and no local branch."""
    repository.git("checkout", "-q", "-b", "topic")
    repository.write({"profiles/lab/new.yaml": pool("new")})
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write({"README.md": "x\n"})
    repository.commit()
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    merge = repository.git("rev-parse", "HEAD")
    repository.git("reset", "-q", "--hard", "HEAD^1")
    repository.git("update-ref", "refs/pull/1/merge", merge)
    clone = tmp_path / "clone"
    clone.mkdir()
    for command in (
        ("init", "-q"),
        ("remote", "add", "origin", str(repository.top)),
        (
            "fetch",
            "-q",
            "origin",
            "+refs/heads/*:refs/remotes/origin/*",
            "+refs/pull/1/merge:refs/remotes/pull/1/merge",
        ),
        ("checkout", "-q", "--detach", "refs/remotes/pull/1/merge"),
    ):
        git(clone, *command)
    data = as_data(run(clone, "--format", "json").out)

    assert data["base"]["name"] == "origin/main"
    assert [(item["name"], item["standing"]) for item in data["clusters"][0]["pools"]] == [("new", "added")]
    assert len(data["clusters"]) == 1


def test_a_shallow_clone_says_how_to_get_its_history(run, repository, tmp_path):
    repository.write({"profiles/lab/new.yaml": pool("new")})
    repository.commit()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository.top}", clone)
    git(clone, "checkout", "-q", "--orphan", "other")
    git(clone, "commit", "-q", "-m", "x")
    result = run(clone)

    assert result.code == 2
    assert "the clone is shallow" in result.err
    assert "fetch-depth: 0" in result.err


def test_without_a_default_branch_the_flag_is_named(run, repository):
    repository.git("branch", "-M", "trunk")
    result = run(repository.root)

    assert result.code == 2
    assert "--base origin/main" in result.err


def test_a_base_that_is_not_there_is_named(run, repository):
    result = run(repository.root, "--base", "nowhere")

    assert (result.code, result.err) == (2, "poolsmith: --base: the repository has no revision `nowhere`\n")


def test_outside_of_a_repository_the_way_to_one_is_told(run, write_files):
    root = write_files(CLEAN)
    result = run(root)

    assert result.code == 2
    assert "needs a git repository, and" in result.err
    assert result.err.endswith("is in none: `git init` makes one\n")


def test_a_repository_without_a_commit_says_so(run, write_files):
    root = write_files(CLEAN)
    subprocess.run(["git", "init", "-q", root], check=True)
    result = run(root)

    assert result.code == 2
    assert "no commit yet" in result.err


def test_without_git_the_flag_says_what_it_needs(run, repository, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    result = run(repository.root)

    assert (result.code, result.err) == (2, "poolsmith: --base needs git, and there is none on PATH\n")


def test_without_profiles_there_is_no_input(run, repository):
    repository.remove("profiles")

    assert run(repository.root).code == 3


def test_new_errors_fail_and_old_ones_do_not(run, run_cli, repository):
    generated(run_cli, repository)
    repository.commit()
    assert run(repository.root, "--base", "HEAD").code == 0
    repository.write({"profiles/lab/a.yaml": pool("a", A100, "{source: nonsense}")})
    broken = run(repository.root, "--base", "HEAD")
    assert broken.code == 1
    assert "profiles/lab/a.yaml" in broken.out
    repository.commit()
    repository.write({"profiles/lab/a.yaml": "# still\n" + pool("a", A100, "{source: nonsense}")})
    again = as_data(run(repository.root, "--base", "HEAD", "--format", "json").out)
    assert [item for item in again["newFindings"] if item["primary"]["path"].startswith("profiles/")] == []


def test_output_that_somebody_edits_is_told_without_a_change_of_profiles(run, run_cli, repository):
    generated(run_cli, repository)
    repository.commit()
    path = repository.root / "output/clusters/lab/README.md"
    path.write_text("edited\n")
    result = run(repository.root, "--base", "HEAD", "--format", "json")
    data = as_data(result.out)

    assert result.code == 1
    assert data["clusters"] == []
    assert {item["name"] for item in data["newFindings"]} == {"hand-edited"}
    repository.commit()
    generated(run_cli, repository)
    assert {
        item["name"]
        for item in as_data(run(repository.root, "--base", "HEAD", "--format", "json").out)["fixedFindings"]
    } == {"hand-edited"}


def test_what_spans_clusters_is_told_when_somebody_edits_it(run, run_cli, repository):
    repository.write({"profiles/lab/cluster.yaml": cluster().replace("engine: flux", "engine: argocd")})
    generated(run_cli, repository)
    (path,) = [item for item in repository.root.glob("output/fleet/**/*.yaml") if item.name != "kustomization.yaml"][:1]
    repository.commit()
    assert run(repository.root, "--base", "HEAD").code == 0
    path.write_text(path.read_text() + "# edited\n")
    data = as_data(run(repository.root, "--base", "HEAD", "--format", "json").out)

    assert [item["name"] for item in data["newFindings"]] == ["hand-edited"]
    repository.commit()
    assert run(repository.root, "--base", "HEAD~1", "--head", "HEAD").code == 1


def test_output_that_was_not_generated_is_one_finding_for_a_cluster(run, run_cli, repository):
    generated(run_cli, repository)
    repository.commit()
    repository.write({"profiles/lab/cluster.yaml": cluster(mode="cluster-policy")})
    data = as_data(run(repository.root, "--base", "HEAD", "--format", "json").out)

    assert [item["name"] for item in data["newFindings"]].count("output-out-of-date") == 1


def test_no_hook_filter_or_attribute_of_the_repository_runs(run, repository, tmp_path):
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(script, repository.top / ".git/hooks" / name)
    repository.git("config", "filter.evil.clean", str(script))
    repository.git("config", "filter.evil.smudge", str(script))
    repository.git("config", "diff.evil.textconv", str(script))
    repository.git("config", "core.fsmonitor", str(script))
    repository.write({".gitattributes": "* filter=evil diff=evil\n", "profiles/lab/new.yaml": pool("new")})
    ran.unlink(missing_ok=True)
    before = repository.git("-c", "core.fsmonitor=false", "rev-parse", "HEAD")
    ran.unlink(missing_ok=True)
    index = (repository.top / ".git/index").read_bytes()
    result = run(repository.root)

    assert "new" in result.out
    assert not ran.exists()
    assert (repository.top / ".git/index").read_bytes() == index
    assert before == repository.base


def test_links_and_submodules_in_the_base_are_refused(run, repository_of):
    repository = repository_of(CLEAN)
    repository.link("profiles/lab/passwd.yaml", "/etc/passwd")
    repository.commit("link")
    repository.remove("profiles/lab/passwd.yaml")
    result = run(repository.root, "--base", "HEAD")

    assert result.code == 2
    assert "`profiles/lab/passwd.yaml` is not a regular file" in result.err
    assert "root:" not in result.out + result.err


def test_links_of_the_change_are_findings_and_lead_nowhere(run, repository):
    repository.link("profiles/lab/passwd.yaml", "/etc/passwd")
    result = run(repository.root)

    assert result.code == 1
    assert "link-out-of-tree" in result.out or "PSM0" in result.out
    assert "root:" not in result.out


def test_a_submodule_in_the_place_of_a_cluster_is_refused(run, repository_of):
    repository = repository_of(CLEAN)
    repository.add_entry("160000", "profiles/lab/sub")
    repository.git("commit", "-q", "-m", "submodule")
    result = run(repository.root, "--base", "HEAD")

    assert result.code == 2
    assert "is not a regular file in that revision" in result.err


def test_names_of_a_change_do_not_steer_a_terminal(run, repository):
    folder = repository.root / "profiles" / "a\x1b[2Jb"
    folder.mkdir()
    (folder / "cluster.yaml").write_text(cluster("x"))
    os.symlink("/etc", repository.root / "output")  # noqa: PTH211 - as a change would have it
    result = run(repository.root)

    assert result.code == 1
    assert "\x1b" not in result.out + result.err
    assert "::" not in [line[:2] for line in result.out.splitlines()]


def test_a_head_of_git_leaves_the_work_tree_alone(run, repository):
    repository.write({"profiles/lab/new.yaml": pool("new")})
    repository.commit()
    repository.git("checkout", "-q", "HEAD~1")
    data = as_data(run(repository.root, "--base", "HEAD", "--head", "main", "--format", "json").out)

    assert data["head"]["name"] == "main"
    assert [item["name"] for item in data["clusters"][0]["pools"]] == ["new"]
    assert not (repository.root / "profiles/lab/new.yaml").exists()
