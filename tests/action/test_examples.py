"""The example workflows, step by step, on real git histories: forks, a bot's branch, provenance."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from support.git_repository import commit_all, git
from support.workflow_runner import Runner

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = "lab-t4"
PROFILE = f"profiles/{CLUSTER}/t4.yaml"
LOCK = f"output/clusters/{CLUSTER}/poolsmith.lock.json"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """A fleet of one cluster, with the action beside it: both repositories in one."""
    from poolsmith.interface.app.generate import generate

    folder = tmp_path_factory.mktemp("fleet") / "fleet"
    for name in (f"profiles/{CLUSTER}", "profiles/_bases", "profiles/_schemas", "policies"):
        shutil.copytree(ROOT / name, folder / name)
    generate(folder)
    shutil.copytree(ROOT / "action", folder / "action", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".ci/approved.py", "requirements-run.lock", "action.yml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "generator").mkdir()
    (folder / "generator/who").write_text("the tool\n")
    commit_all(folder)
    return folder


class Example:
    def __init__(self, tmp_path, fleet):
        self.folder, self.origin = tmp_path, tmp_path / "origin"
        git(tmp_path, "clone", "--quiet", "--bare", str(fleet), str(self.origin))
        git(self.origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.clone = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", str(self.origin), str(self.clone))
        self.base = git(self.clone, "rev-parse", "HEAD")

    def push(self, ref, *, regenerate=False, edit=True):
        if edit:
            path = self.clone / PROFILE
            path.write_text(path.read_text().replace("version: 550.90.07", "version: 550.127.08  # by a bot"))
        if regenerate:
            from poolsmith.interface.app.generate import generate

            generate(self.clone)
        commit_all(self.clone, "change")
        git(self.clone, "push", "--quiet", "origin", f"HEAD:{ref}")
        return git(self.clone, "rev-parse", "HEAD")

    def run(self, name, job, ref, **github):
        text = (ROOT / "examples/github" / name).read_text("utf-8").replace("<full commit id>", self.base)
        steps = read_documents(text)[0]["jobs"][job]["steps"]
        for step in steps:
            if "checkout@" in step.get("uses", ""):
                step["with"].setdefault("ref", git(self.origin, "rev-parse", ref))
        runner = Runner(self.folder / "runner", origin=self.origin, tool=self.origin, answers={})
        self.work = runner.work
        known = {"repository": "example/fleet", "token": "t", "ref": ref, "server_url": "https://github.example"}
        return runner.run({"steps": steps}, {**known, **github})


@pytest.fixture
def example(tmp_path, fleet):
    return Example(tmp_path, fleet)


@pytest.mark.deep("two jobs of a workflow")
def test_a_fork_is_checked_and_leaves_what_is_to_be_said(example):
    head = example.push("refs/pull/7/head", regenerate=True)
    request = {"number": 7, "head": {"sha": head}, "base": {"ref": "main", "sha": example.base}}
    job = example.run(
        "forks.yaml", "check", "refs/pull/7/head", event={"pull_request": request}, event_name="pull_request"
    )

    assert job.passed, job.printed
    uploads = {options["name"]: options["path"] for action, options in job.used if "upload-artifact@" in action}
    assert set(uploads) == {"poolsmith", "poolsmith-comment"}
    comment = Path(uploads["poolsmith-comment"])
    assert comment.name == "comment.md"
    assert CLUSTER in comment.read_text()


@pytest.mark.deep("two jobs of a workflow; a fork that is sound stays")
def test_a_fork_that_is_not_generated_fails_and_still_says_so(example):
    head = example.push("refs/pull/7/head")
    request = {"number": 7, "head": {"sha": head}, "base": {"ref": "main", "sha": example.base}}
    job = example.run(
        "forks.yaml", "check", "refs/pull/7/head", event={"pull_request": request}, event_name="pull_request"
    )

    assert job.steps["Verdict"] == "failure"
    assert job.steps["Upload what is to be said of them"] == "success"


BRANCH = "refs/heads/renovate/driver"


def test_a_bots_branch_gets_its_output_and_nothing_else_moves(example):
    before = example.push(BRANCH)
    job = example.run("regenerate.yaml", "regenerate", BRANCH)

    assert job.passed, job.printed
    after = git(example.origin, "rev-parse", BRANCH)
    assert git(example.origin, "rev-parse", f"{BRANCH}~1") == before
    changed = git(example.origin, "diff", "--name-only", before, after).splitlines()
    assert changed
    assert all(path.startswith("output/") for path in changed)
    assert git(example.origin, "rev-parse", "main") == example.base
    assert "# by a bot" in git(example.origin, "show", f"{BRANCH}:{PROFILE}")
    assert "AUTHORIZATION" not in git(example.work, "config", "--list", "--local").upper()


def test_a_bots_branch_that_is_complete_is_left_alone(example):
    """So that the run that the push has started is the last one."""
    before = example.push(BRANCH, regenerate=True)
    job = example.run("regenerate.yaml", "regenerate", BRANCH)

    assert job.passed, job.printed
    assert job.steps["A token whose pushes start workflows"] == "skipped"
    assert git(example.origin, "rev-parse", BRANCH) == before


def test_only_branches_of_the_bot_are_pushed_to(example):
    example.push("refs/heads/feature")
    job = example.run("regenerate.yaml", "regenerate", "refs/heads/feature")

    assert job.steps["Push to this branch, unless it has moved"] == "failure"


def test_a_profile_with_a_mistake_pushes_nothing(example):
    path = example.clone / PROFILE
    path.write_text(path.read_text().replace("  driver:\n", "  drivver:\n"))
    before = example.push(BRANCH, edit=False)
    job = example.run("regenerate.yaml", "regenerate", BRANCH)

    assert job.steps["Generate"] == "failure"
    assert git(example.origin, "rev-parse", BRANCH) == before


def test_what_is_attested_are_the_digests_of_the_lock_files(example):
    job = example.run("provenance.yaml", "locks", "refs/heads/main")

    assert job.passed, job.printed
    told = dict(reversed(line.split("  ")) for line in (example.work / "subjects.txt").read_text().splitlines())
    assert told[LOCK] == hashlib.sha256((example.work / LOCK).read_bytes()).hexdigest()
    assert set(told) == {
        path.relative_to(example.work).as_posix() for path in example.work.glob("output/**/*.lock.json")
    }


def test_output_that_nobody_generated_is_not_attested(example):
    example.push("refs/heads/main")
    job = example.run("provenance.yaml", "locks", "refs/heads/main")

    assert job.steps["The output is what the profiles generate"] == "failure"
    assert not (example.work / "subjects.txt").exists()
