"""The output in another branch, another folder or an artefact: written there, and compared with what is there."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support.git_repository import commit_all, git

pytestmark = pytest.mark.sample("edge", "prod-rke2")

CHANGE = ("release: v26.3.3", "release: v26.3.1")


@pytest.fixture
def fleet(sample_project, tmp_path, run_cli):
    """A repository of profiles without output, and a work tree of the branch that holds what is rendered."""
    commit_all(sample_project)
    empty = subprocess.run(
        [shutil.which("git"), "mktree"], cwd=sample_project, input="", capture_output=True, text=True, check=True
    ).stdout.strip()
    git(sample_project, "branch", "rendered", git(sample_project, "commit-tree", "-m", "rendered", empty))
    git(sample_project, "worktree", "add", "--quiet", tmp_path / "rendered", "rendered")
    return sample_project, tmp_path / "rendered"


def rendered(fleet, run_cli):
    project, work_tree = fleet
    assert run_cli(["generate", "--jobs", "1", "--root", project, "--output-root", work_tree]).code == 0
    commit_all(work_tree, "output")


def edited(project):
    profile = project / "profiles/prod-rke2/cluster.yaml"
    profile.write_text(profile.read_text().replace(*CHANGE))


def test_the_output_goes_to_another_work_tree_and_only_there(fleet, run_cli):
    project, work_tree = fleet
    rendered(fleet, run_cli)
    assert sorted(path.name for path in work_tree.iterdir()) == [".git", "output"]
    assert not (project / "output").exists()
    assert run_cli(["generate", "--jobs", "1", "--root", project]).code == 0
    files = [path.relative_to(project) for path in (project / "output").rglob("*") if path.is_file()]
    assert all((work_tree / path).read_bytes() == (project / path).read_bytes() for path in files)


@pytest.mark.parametrize("verb", [("generate", "--check"), ("check",)])
def test_a_revision_is_compared_with_without_a_checkout_of_it(fleet, run_cli, verb):
    project, work_tree = fleet
    rendered(fleet, run_cli)
    shutil.rmtree(work_tree / "output")
    line = [*verb, "--jobs", "1", "--root", project, "--against", "rendered", "--format", "json"]
    codes = {item["code"] for item in run_cli(line).diagnostics if item["severity"] == "error"}
    assert "PSM501" not in codes
    edited(project)
    found = run_cli(line)
    assert found.code == 1
    behind = {item["primary"]["path"].split("/")[2] for item in found.diagnostics if item["code"] == "PSM501"}
    assert behind == {"prod-rke2"}
    assert not (project / "output").exists()


def test_nothing_is_remembered_between_places(fleet, run_cli, tmp_path):
    """A result of one place is no answer for another one."""
    project, work_tree = fleet
    rendered(fleet, run_cli)
    here = ["generate", "--check", "--cache", "--jobs", "1", "--root", project]
    assert run_cli([*here, "--output-root", work_tree]).code == 0
    assert run_cli(here).code == 1
    assert run_cli([*here, "--against", "rendered"]).code == 0
    assert run_cli([*here, "--output-root", tmp_path]).code == 1


def test_a_folder_that_an_artefact_was_unpacked_into(fleet, run_cli, tmp_path):
    project, work_tree = fleet
    rendered(fleet, run_cli)
    artefact = tmp_path / "artefact"
    shutil.copytree(work_tree / "output", artefact / "output")
    line = ["generate", "--check", "--jobs", "1", "--root", project, "--output-root", artefact]
    assert run_cli(line).code == 0
    (artefact / "output/clusters/edge/delivery/more.yaml").write_text("kind: ConfigMap\n")
    assert "more.yaml" in run_cli(line).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("generate", "--against", "rendered"), "it goes with --check"),
        (("generate", "--check", "--against", "nowhere"), "no revision `nowhere`"),
        (("generate", "--check", "--against", "main"), "main has no folder output/"),
        (("generate", "--check", "--against", "main:else/where"), "main has no folder else/where/"),
        (("generate", "--check", "--against", "--help"), "no revision"),
        (("generate", "--output-root", "nowhere"), "nowhere is not a folder"),
        (("check", "--against", "rendered", "--output-root", "."), "take one of them"),
        (("check", "x.yaml", "--against", "rendered"), "are for the project"),
        (("generate", "--hook", "--output-root", "."), "another folder"),
    ],
)
def test_what_can_not_be_meant_is_said(fleet, run_cli, words, said):
    project, _ = fleet
    found = run_cli([*words, "--root", "."], cwd=project)
    assert found.code == 2
    assert said in found.err


def test_a_link_in_the_revision_is_refused(fleet, run_cli):
    project, work_tree = fleet
    rendered(fleet, run_cli)
    (work_tree / "output/clusters/link").symlink_to("/etc")
    commit_all(work_tree, "link")
    found = run_cli(["generate", "--check", "--root", project, "--against", "rendered"])
    assert found.code == 2
    assert "is not a regular file" in found.err
