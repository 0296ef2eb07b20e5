"""The workflow of docs/github.md, and this repository's own, taken literally on real Git histories, harmless and hostile."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from support.circles import parameters
from support.git_repository import commit_all, git
from support.workflow_runner import Runner

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/github.md").read_text("utf-8")
CLUSTER = "lab-t4"
GRANTS = "policies/privileges/driver.yaml"
ACTION = "What it does, and whether it is sound, by the policies of the base"
CHECK = "Verdict"
OWNER = "Have code owners approved exactly this commit?"
OWNERS = "* @carol\n/policies/ @Alice @bob  # and nobody else\n"
_BEGIN, _END = "<!-- workflow:begin -->\n```yaml\n", "```\n<!-- workflow:end -->"
SHOWN = PAGE.partition(_BEGIN)[2].partition(_END)[0]


def workflow(kind):
    own = (ROOT / ".github/workflows/profiles.yaml").read_text("utf-8")
    return read_documents((own if kind == "own" else SHOWN).replace("<full commit id>", "main"))[0]


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A repository with one cluster of the sample, the sample's policies, a tool and owners: the branch main."""
    from poolsmith.interface.app.generate import generate

    folder = tmp_path_factory.mktemp("base")
    for name in (f"profiles/{CLUSTER}", "profiles/_bases", "profiles/_schemas", "policies"):
        shutil.copytree(ROOT / name, folder / name)
    assert not [item for item in generate(folder).outcome.diagnostics if str(item.severity) == "error"]
    shutil.copytree(ROOT / "action", folder / "action", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".ci/approved.py", "requirements-run.lock", "action.yml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    put(
        folder,
        {
            "generator/who": "the base\n",
            ".github/CODEOWNERS": OWNERS,
            ".github/workflows/profiles.yaml": SHOWN,
        },
    )
    commit_all(folder)
    return folder


def put(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture
def judged(base, tmp_path):
    """Judge a change as the job of a workflow does: `change` edits a clone, `later` edits main afterwards."""

    def run(kind, change, *, later=None, reviews=(), author="mallory", event="pull_request", commands=None):
        origin = tmp_path / "origin"
        git(tmp_path, "clone", "--quiet", "--bare", str(base), str(origin))
        git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        head = commit(tmp_path / "head", origin, change, "refs/pull/7/head")
        tip = commit(tmp_path / "later", origin, later, "refs/heads/main") if later else None
        request = {"number": 7, "head": {"sha": head}, "base": {"ref": "main"}, "user": {"login": author}}
        told = [
            {**review, "commit_id": head if review["commit_id"] == "HEAD" else review["commit_id"]}
            for review in reviews
        ]
        answers = {
            "repos/example/fleet/pulls/7": json.dumps(request),
            "repos/example/fleet/pulls/7/reviews?per_page=100": json.dumps([told]),
        }
        github = {
            "event": {"pull_request": request},
            "event_name": "pull_request_target",
            "repository": "example/fleet",
            "token": "t",
            "sha": "",
        }
        if event == "merge_group":
            queue = {"base_sha": git(base, "rev-parse", "HEAD"), "head_sha": head}
            queue["head_ref"] = f"refs/heads/gh-readonly-queue/main/pr-7-{queue['base_sha']}"
            github |= {"event": {"merge_group": queue}, "event_name": event}
        assert tip is None or tip != head
        runner = Runner(tmp_path / "runner", origin=origin, tool=origin, answers=answers)
        job = workflow(kind)["jobs"]["check"]
        if commands is not None:
            job["steps"][-1]["with"]["commands"] = commands
        return runner.run(job, github)

    return run


def commit(folder, origin, change, ref):
    git(folder.parent, "clone", "--quiet", str(origin), str(folder))
    change(folder)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "change")
    git(folder, "push", "--quiet", "--force", "origin", f"HEAD:{ref}")
    return git(folder, "rev-parse", "HEAD")


def edit(folder, path, old, new):
    text = (folder / path).read_text()
    assert re.search(old, text)
    (folder / path).write_text(re.sub(old, new, text, count=1))


def regenerate(folder):
    from poolsmith.interface.app.generate import generate

    generate(folder)


def harmless(folder):
    pool = next((folder / f"profiles/{CLUSTER}").glob("[!c]*.yaml"))
    pool.write_text(pool.read_text() + "# looked at once more\n")
    put(folder, {"README.md": "A fleet.\n"})
    regenerate(folder)


def widened_by_hand(folder):
    """An object that nobody granted, beside what is generated."""
    values = folder / f"output/clusters/{CLUSTER}/platform/values/gpu-operator.yaml"
    values.write_text(values.read_text() + "sandboxWorkloads:\n  enabled: true\n")


def with_another_judge(folder):
    """Everything that might take the judge's place: tool, lock, script, owners, modules, settings, filters, hooks."""
    widened_by_hand(folder)
    trap = "import pathlib; pathlib.Path('/tmp/poolsmith-was-trapped').touch()\n"
    put(
        folder,
        {
            "generator/who": "the head\n",
            "requirements-run.lock": "poolsmith==0.0.1\n",
            "action.yml": "runs: {using: composite, steps: []}\n",
            "action/run.py": trap,
            "action/step.py": trap,
            "venv.py": trap,
            "json.py": trap,
            ".ci/approved.py": "print('policies=true\\njudge=true')\n",
            ".github/CODEOWNERS": "* @mallory\n",
            ".github/workflows/profiles.yaml": "name: profiles\n",
            "poolsmith.py": trap,
            "poolsmith/__init__.py": trap,
            "poolsmith/__main__.py": trap,
            "sitecustomize.py": trap,
            "yaml.py": trap,
            "click.py": trap,
            "pip.conf": "[install]\nno-index = true\n",
            "pyvenv.cfg": "home = /\n",
            "poolsmith.cfg": "x\n",
            ".gitattributes": "* filter=x diff=x merge=x\n",
            ".gitconfig": '[filter "x"]\n\tsmudge = touch /tmp/poolsmith-was-trapped\n',
            "hooks/post-merge": "#!/bin/sh\ntouch /tmp/poolsmith-was-trapped\n",
        },
    )


KINDS = pytest.mark.parametrize("kind", parameters(["shown"], ["own"]))


@pytest.mark.deep("a whole run, 2.7 s; its parts have tests of their own")
@pytest.mark.rows(1, "a repository, a clone and a job")
@KINDS
@pytest.mark.parametrize("event", ["pull_request", "merge_group"])
def test_a_harmless_change_passes(judged, kind, event):
    job = judged(kind, harmless, event=event)

    assert job.passed, job.printed
    assert job.steps[ACTION] == job.steps[CHECK] == "success"
    assert re.findall(r"^(\w+)", job.called, re.MULTILINE) == ["generate", "check", "diff"]
    assert job.installed.endswith("from the base\n")
    assert "0 errors" in job.printed


@pytest.mark.real("a repository, a clone and a job; tests/action has the parts")
@KINDS
def test_a_hostile_change_fails_whatever_judge_it_brings(judged, kind):
    trapped = Path("/tmp/poolsmith-was-trapped")
    trapped.unlink(missing_ok=True)
    job = judged(kind, with_another_judge)

    assert job.steps[CHECK] == "failure"
    assert "PSM502" in job.printed
    assert not trapped.exists()
    assert job.installed.endswith("from the base\n")
    assert "policies/: no owner has approved" in job.printed


def without_a_grant(folder):
    (folder / GRANTS).unlink()


@pytest.mark.deep("a repository, a clone and a job; tests/action has the parts")
@KINDS
def test_what_the_base_took_back_since_no_longer_counts(judged, kind):
    """The branch is older than the base, and sound by itself; its own copy of the grant grants nothing."""
    job = judged(kind, harmless, later=without_a_grant)

    assert job.steps[CHECK] == "failure"
    assert "grant" in job.printed


def test_a_conflict_is_no_pass(judged):
    def cluster(text):
        return lambda folder: edit(folder, f"profiles/{CLUSTER}/cluster.yaml", r"\A", text)

    job = judged("shown", cluster("# ours\n"), later=cluster("# theirs\n"))

    assert job.steps["What a merge would make of it"] == "failure"
    assert job.steps[ACTION] == "skipped"
    assert not job.passed


def review(login, state="APPROVED", commit_id="HEAD"):
    return {"state": state, "commit_id": commit_id, "user": {"login": login}}


APPROVED = {
    "by an owner": [review("alice")],
    "by an owner in other letters": [review("BOB")],
    "by an owner who asked for changes before": [review("bob", "CHANGES_REQUESTED"), review("bob")],
    "by an owner who commented afterwards": [review("bob"), review("bob", "COMMENTED")],
}
NOT_APPROVED = {
    "by nobody": [],
    "by somebody else": [review("carol")],
    "by the author": [review("mallory")],
    "for another commit": [review("alice", commit_id="0" * 40)],
    "and taken back": [review("alice"), review("alice", "DISMISSED")],
    "and thought better of": [review("alice"), review("alice", "CHANGES_REQUESTED")],
    "with words only": [review("alice", "COMMENTED")],
    "by a user who is gone": [{"state": "APPROVED", "commit_id": "HEAD", "user": None}],
    "by a name that is not whole": [review("ali")],
}


def approval(judged, reviews, **options):
    job = judged("shown", lambda folder: None, reviews=reviews, commands="generate", **options)
    assert job.steps[OWNER] == "success"
    return "policies/: approved by" in job.printed


@pytest.mark.rows(2, "each is a repository, a clone and a job; tests/action has the reading of reviews")
@pytest.mark.parametrize("reviews", APPROVED.values(), ids=APPROVED)
def test_an_approval_of_this_commit_by_an_owner_counts(judged, reviews):
    assert approval(judged, reviews)


@pytest.mark.rows(1, "each is a repository, a clone and a job; tests/action has the reading of reviews")
@pytest.mark.parametrize("reviews", NOT_APPROVED.values(), ids=NOT_APPROVED)
def test_no_other_approval_does(judged, reviews):
    assert not approval(judged, reviews)


def test_an_owner_does_not_approve_what_is_their_own(judged):
    assert not approval(judged, [review("alice")], author="Alice")


@pytest.mark.deep("a repository, a clone and a job; tests/action has the parts")
@pytest.mark.rows(1, "each is a repository, a clone and a job")
@KINDS
@pytest.mark.parametrize(
    ("reviews", "accepted"),
    [([review("bob")], ["policy-widening"]), ([review("carol"), review("alice")], ["policy-widening", "judge-change"])],
)
def test_the_check_is_told_what_owners_have_accepted(judged, kind, reviews, accepted):
    job = judged(kind, lambda folder: None, reviews=reviews)

    assert job.passed, job.printed
    for verb in ("check", "diff"):
        (line,) = re.findall(rf"^{verb} .*", job.called, re.MULTILINE)
        assert re.findall(r"--accept=(\S+)", line) == accepted


def widened_policies(folder):
    """A grant that holds longer."""
    edit(folder, GRANTS, r"expires: .*", 'expires: "2029-12-31"')
    regenerate(folder)


def changed_judge(folder):
    edit(folder, ".github/workflows/profiles.yaml", r"codeowners: .*", "policies-from: change")


@pytest.mark.real("a repository, a clone and a job")
@pytest.mark.rows(2, "each is a repository, a clone and a job")
@pytest.mark.parametrize(
    ("change", "told", "owner", "other"),
    [(widened_policies, "policy-widening", "bob", "carol"), (changed_judge, "judge-change", "carol", "bob")],
)
@pytest.mark.parametrize("passes", [True, False])
def test_what_widens_or_changes_the_judge_passes_with_the_approval_of_its_owner_only(
    judged, change, told, owner, other, passes
):
    job = judged("shown", change, reviews=[review(owner if passes else other)])

    assert (job.steps[CHECK] == "success") is passes, job.printed
    assert passes or f"error PSM66{'0' if told == 'policy-widening' else '1'} {told}" in job.printed


@pytest.mark.deep("a repository, a clone and a job; tests/action has the parts")
def test_without_an_approval_the_check_is_told_nothing(judged):
    assert "--accept" not in judged("own", lambda folder: None, reviews=[review("carol", "COMMENTED")]).called


def test_a_queue_asks_for_the_pull_request_behind_it(judged):
    assert approval(judged, [review("alice")], event="merge_group")


@KINDS
def test_the_workflow_is_that_of_the_base_and_has_no_rights_to_lose(kind):
    found = workflow(kind)
    check, comment = found["jobs"]["check"], found["jobs"]["comment"]

    assert "pull_request" not in found["on"]
    assert found["on"]["pull_request_target"] == {"branches": ["main"]}
    assert found["permissions"] == {}
    assert check["permissions"] == {"contents": "read", "pull-requests": "read"}
    for job in (check, comment):
        assert all("cache" not in step.get("with", {}) for step in job["steps"])
        assert all("secrets." not in json.dumps(step) for step in job["steps"])
    (judge,) = [step for step in check["steps"] if step.get("name") == ACTION]
    assert judge["uses"] in ("./base", "example/poolsmith@main")
    assert judge["with"]["directory"] == "head"
    assert judge["with"]["codeowners"].startswith("base/")


@KINDS
def test_what_may_write_reads_nothing_of_the_head(kind):
    comment = workflow(kind)["jobs"]["comment"]

    assert comment["permissions"]["pull-requests"] == "write"
    assert comment["needs"] == "check"
    assert not [step for step in comment["steps"] if "run" in step]
    texts = json.dumps(comment["steps"])
    assert "head" not in texts
    assert "artifact" not in texts or '"poolsmith-comment"' in texts


def test_what_the_page_shows_is_the_example_and_what_this_repository_does():
    assert (ROOT / "examples/github/profiles.yaml").read_text("utf-8") == SHOWN

    def words(job):
        return set(re.findall(r"[\w./-]+", json.dumps(job)))

    ours = {"github.sha", "github.event_name", "push", "./base", "./base/action/comment", "example/poolsmith", "main"}
    ours |= {"example/poolsmith/action/comment", "generate", "--check", "and", "check"}
    for name in ("check", "comment"):
        own, shown = (workflow(kind)["jobs"][name] for kind in ("own", "shown"))
        named = {step.get("name") for step in shown["steps"]}
        own = {**own, "steps": [step for step in own["steps"] if step.get("name") in named]}
        own["permissions"].pop("contents", None)
        shown["permissions"].pop("contents", None)
        assert words(own) ^ words(shown) <= ours
