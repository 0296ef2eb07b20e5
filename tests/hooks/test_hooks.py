"""The hooks that others use: what they match, and what they do in a repository of their own."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from support.git_repository import commit_all, git

REPOSITORY = Path(__file__).resolve().parents[2]
HOOKS = {hook["id"]: hook for hook in read_documents((REPOSITORY / ".pre-commit-hooks.yaml").read_text())[0]}
IDS = ("poolsmith-generate", "poolsmith-check")
LINT = "poolsmith-lint"


def on_a_day(identifier):
    """The sample's grants and waivers end one day; these tests don't."""
    return ["--today", "2026-11-20"] if identifier == "poolsmith-check" else []


def run_hook(folder, identifier):
    """As pre-commit does it: the entry, in the root of the repository, without file names."""
    command = [sys.executable, "-m", *shlex.split(HOOKS[identifier]["entry"]), *on_a_day(identifier)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path):
    for name in ("profiles", "policies", "output"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    commit_all(tmp_path)
    return tmp_path


def test_the_ids_of_a_project_pass_no_file_names():
    assert tuple(HOOKS) == (*IDS, LINT)
    for hook in map(HOOKS.get, IDS):
        assert hook["pass_filenames"] is False
        assert hook["require_serial"] is True
        assert hook["language"] == "python"
        assert hook["always_run"] is True, "a commit that only deletes has no files for a pattern"


def test_the_one_for_anybody_takes_the_yaml_files_of_a_commit():
    hook = HOOKS[LINT]
    assert hook["types_or"] == ["yaml"]
    assert hook.get("pass_filenames", True) is True
    assert "always_run" not in hook
    assert hook["args"] == ["--"], "a file may have the name of a flag"
    assert hook["additional_dependencies"] == HOOKS["poolsmith-check"]["additional_dependencies"]


@pytest.mark.deep("pre-commit over the whole fleet")
@pytest.mark.rows(1, "pre-commit installs and runs each")
@pytest.mark.parametrize("identifier", IDS)
def test_a_hook_passes_on_a_committed_project_and_changes_nothing(repository, identifier):
    done = run_hook(repository, identifier)
    assert done.returncode == 0, done.stdout
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.deep("pre-commit over the whole fleet")
def test_generate_makes_the_commit_fail_by_changing_the_output(repository):
    profile = repository / "profiles" / "prod-eu" / "l4-precompiled.yaml"
    profile.write_text(profile.read_text().replace('version: "580"', 'version: "570"'))
    done = run_hook(repository, "poolsmith-generate")
    assert done.returncode == 1
    assert "run `git add output`, and commit again" in done.stderr
    changed = git(repository, "status", "--porcelain")
    assert "output/clusters/prod-eu/pools/l4-precompiled/nvidia-driver.yaml" in changed
    assert "output/clusters/edge" not in changed


@pytest.mark.deep("pre-commit over the whole fleet; tests/interface/app has hand edits")
def test_check_fails_on_output_that_was_not_regenerated_and_on_a_hand_edit(repository):
    edited = repository / "output" / "clusters" / "edge" / "platform" / "values" / "gpu-operator.yaml"
    edited.write_text(edited.read_text() + "driver:\n  enabled: false\n")
    git(repository, "add", "output")
    done = run_hook(repository, "poolsmith-check")
    assert done.returncode == 1
    assert "PSM502 hand-edited" in done.stdout
