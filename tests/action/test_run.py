"""The step that runs poolsmith, on real git histories, with the variables that GitHub sets; the tool is a stand-in that
writes down how it was called. tests/docs/test_ci_workflow.py runs the whole action with the tool itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.git_repository import commit_all, git

ROOT = Path(__file__).resolve().parents[2]
_TOOL = """#!{python} -I
import json, os, pathlib, sys
if "--help" in sys.argv: sys.exit(print("  --format [text|json|github|sarif|markdown]  Report format."))
plan = json.loads(pathlib.Path({plan!r}).read_text())
with open({log!r}, "a") as log: log.write(json.dumps([os.getcwd(), *sys.argv[1:]]) + "\\n")
mine = plan.get(sys.argv[1], {{}})
for word in sys.argv[2:]:
    if word.startswith("--output="):
        form, _, path = word.removeprefix("--output=").partition("=")
        if form in mine.get("reports", {{}}): pathlib.Path(path).write_text(mine["reports"][form])
print("a report")
sys.exit(mine.get("code", 0))
"""
CHECK = {"reports": {"json": json.dumps({"summary": {"errors": 2, "warnings": 1, "notes": 0, "waived": 4}})}}
NO_CHANGE = {"selfGrants": [], "clusters": [], "newFindings": [], "fixedFindings": [], "unknown": [], "pools": 0}


class Step:
    def __init__(self, folder):
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir()
        git(self.work, "init", "--quiet", "--initial-branch", "main")
        self.first = self.commit("first")
        self.plan = {"check": CHECK}

    def commit(self, name):
        (self.work / name).write_text(name)
        commit_all(self.work, name)
        return git(self.work, "rev-parse", "HEAD")

    def run(self, event_name="push", event=None, directory=None, **inputs):
        paths = {name: self.folder / name for name in ("event.json", "output", "temp", "plan.json", "log", "poolsmith")}
        paths["temp"].mkdir(exist_ok=True)
        paths["event.json"].write_text(json.dumps(event or {}))
        paths["plan.json"].write_text(json.dumps(self.plan))
        for name in ("output", "log"):
            paths[name].write_text("")
        paths["poolsmith"].write_text(
            _TOOL.format(python=sys.executable, plan=str(paths["plan.json"]), log=str(paths["log"]))
        )
        paths["poolsmith"].chmod(0o755)
        environment = {
            "PATH": os.environ["PATH"],
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_EVENT_PATH": str(paths["event.json"]),
            "GITHUB_OUTPUT": str(paths["output"]),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "example/fleet",
            "GITHUB_RUN_ID": "99",
            "RUNNER_TEMP": str(paths["temp"]),
            "COMMANDS": "generate check diff",
            "DIRECTORY": str(directory or self.work),
            "ROOT": ".",
            "FAIL_ON": "error",
            **inputs,
        }
        done = subprocess.run(
            [sys.executable, str(ROOT / "action/run.py"), str(paths["poolsmith"])],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        done.calls = {call[1]: call for call in map(json.loads, paths["log"].read_text().splitlines())}
        done.outputs = dict(line.split("=", 1) for line in paths["output"].read_text().splitlines())
        return done


@pytest.fixture
def step(tmp_path):
    return Step(tmp_path)


def request(head, base, number=7):
    return {"pull_request": {"number": number, "head": {"sha": head}, "base": {"sha": base, "ref": "main"}}}


@pytest.fixture
def change(step):
    """A branch of one commit, and a newer one of main; the branch is checked out."""
    git(step.work, "switch", "--quiet", "--create", "change")
    step.head = step.commit("change")
    git(step.work, "switch", "--quiet", "main")
    step.tip = step.commit("newer")
    git(step.work, "switch", "--quiet", "--detach", "change")
    return step


def merged(step):
    """As GitHub merges a pull request: the base is the first parent."""
    git(step.work, "switch", "--quiet", "--detach", "main")
    git(step.work, "merge", "--quiet", "--no-ff", "--no-edit", "change")


def test_a_push_is_held_against_nothing(step):
    done = step.run("push", {"before": "0" * 40})

    assert list(done.calls) == ["generate", "check"]
    assert "--check" in done.calls["generate"]
    assert not [word for word in done.calls["check"] if word.startswith("--policies-from")]
    assert (done.outputs["base"], done.outputs["changed"], done.outputs["diff-exit-code"]) == ("", "", "")


@pytest.mark.parametrize("event_name", ["pull_request", "pull_request_target"])
def test_a_head_is_held_against_where_both_parted(change, event_name):
    done = change.run(event_name, request(change.head, change.tip))

    assert list(done.calls) == ["generate", "check", "diff"]
    assert f"--base={change.first}" in done.calls["diff"]
    assert f"--policies-from={change.first}" in done.calls["check"]
    assert done.outputs["base"] == change.first


def test_a_merge_is_held_against_what_it_was_merged_into(change):
    merged(change)
    done = change.run("pull_request", request(change.head, change.first))

    assert f"--base={change.tip}" in done.calls["diff"]


def test_a_queue_is_held_against_the_commit_before(change):
    done = change.run("merge_group", {"merge_group": {"base_sha": change.first, "head_sha": change.head}})

    assert f"--base={change.first}" in done.calls["diff"]


def test_a_base_that_is_named_counts(change):
    merged(change)
    done = change.run("pull_request_target", request(change.head, change.first), BASE=change.tip)

    assert f"--base={change.tip}" in done.calls["diff"]


@pytest.mark.parametrize("event_name", ["pull_request", "pull_request_target"])
def test_the_base_is_not_judged_in_place_of_the_change(change, event_name):
    """Checked out without a `ref`, a run of pull_request_target is at the base, and would always be green."""
    git(change.work, "switch", "--quiet", "--detach", "main")
    done = change.run(event_name, request(change.head, change.tip), BASE=change.tip)

    assert done.returncode == 2
    assert "::error title=poolsmith::what is checked out is not the pull request" in done.stdout
    assert done.calls == {}


def test_a_shallow_clone_says_what_it_needs(change, tmp_path):
    merged(change)
    git(change.work, "branch", "--force", "merged", "HEAD")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", "--branch", "merged", f"file://{change.work}", str(shallow))
    event = request(change.head, change.tip)
    done = change.run("pull_request", event, directory=shallow)

    assert done.returncode == 2
    assert "`fetch-depth: 0`" in done.stdout
    assert (
        change.run("pull_request", event, directory=shallow, POLICIES_FROM="change", COMMANDS="check").returncode == 0
    )


@pytest.mark.parametrize("base", ["--help", "main^{tree}", "nowhere", "$(touch x)", "a\nb"])
def test_a_base_that_is_no_commit_is_refused(change, tmp_path, base):
    done = change.run("push", BASE=base)

    assert done.returncode == 2
    assert len([line for line in done.stdout.splitlines() if line.startswith("::")]) == 1
    assert done.calls == {}
    assert not (tmp_path / "x").exists()


BAD = {
    "an unknown command": {"COMMANDS": "check apply"},
    "no command": {"COMMANDS": " "},
    "an unknown severity": {"FAIL_ON": "never"},
    "policies of nobody": {"POLICIES_FROM": "origin/main"},
    "what nobody can accept": {"ACCEPT": "everything"},
}


@pytest.mark.parametrize("inputs", BAD.values(), ids=BAD)
def test_an_input_that_cannot_be_followed_fails_before_anything_runs(step, inputs):
    done = step.run(**inputs)

    assert done.returncode == 2
    assert "::error" in done.stdout
    assert (done.calls, done.outputs) == ({}, {})


def test_a_folder_that_is_not_there_fails(step, tmp_path):
    assert step.run("pull_request", request("a" * 40, "b" * 40), directory=tmp_path / "nowhere").returncode == 2


def test_what_is_accepted_comes_from_the_workflow_and_from_owners(change):
    event = request(change.head, change.tip)
    done = change.run("pull_request", event, ACCEPT="judge-change", POLICIES="true", JUDGE="")

    for verb in ("check", "diff"):
        assert {"--accept=policy-widening", "--accept=judge-change"} <= set(done.calls[verb])
    none = change.run("pull_request", event, POLICIES="false", JUDGE="True ")
    assert not [word for word in none.calls["check"] if word.startswith("--accept")]
    own = change.run("pull_request", event, POLICIES="true", POLICIES_FROM="change")
    assert not [word for word in own.calls["check"] if word.startswith(("--accept", "--policies-from"))]


def test_inputs_are_words_not_scripts(step, tmp_path):
    done = step.run(ROOT="a b; touch x $(touch y)", FAIL_ON="warning")

    call = done.calls["check"]
    assert call[call.index("--root") + 1] == "a b; touch x $(touch y)"
    assert call[0] == str(step.work)
    assert "--fail-on=warning" in call
    assert not [path for path in tmp_path.rglob("*") if path.name in "xy"]


def test_what_comes_out_is_told(change):
    change.plan["generate"] = {"code": 1}
    change.plan["check"] = {**CHECK, "code": 3}
    change.plan["diff"] = {"reports": {"json": json.dumps({**NO_CHANGE, "clusters": [{}]})}}
    done = change.run("pull_request", request(change.head, change.tip))

    assert done.returncode == 0, "the last step of the action fails"
    codes = [done.outputs[f"{name}exit-code"] for name in ("", "generate-", "check-", "diff-")]
    assert codes == ["3", "1", "3", "0"]
    assert [done.outputs[name] for name in ("errors", "warnings", "notes", "waived")] == ["2", "1", "0", "4"]
    assert done.outputs["changed"] == "true"
    assert Path(done.outputs["check-json"]).is_file()
    assert done.outputs["sarif-file"] == ""


def test_a_command_that_dies_fails(step):
    step.plan["check"] = {"code": -9}
    (step.folder / "temp").mkdir()

    assert int(step.run().outputs["exit-code"]) > 0


def test_a_change_that_does_nothing_and_breaks_nothing_is_not_worth_a_comment(change):
    change.plan["diff"] = {"reports": {"json": json.dumps(NO_CHANGE), "markdown": "nothing changes\n"}}
    done = change.run("pull_request", request(change.head, change.tip))

    assert done.outputs["changed"] == "false"
    assert Path(done.outputs["comment-file"]).read_text() == ""


def test_a_comment_says_what_the_change_does_and_what_is_wrong(change):
    hostile = "a pool is new\n```\n@alice\n"
    change.plan["check"] = {"code": 1, "reports": {**CHECK["reports"], "text": "one error\n"}}
    change.plan["diff"] = {"code": 1, "reports": {"json": json.dumps({**NO_CHANGE, "clusters": [{}]}), "text": hostile}}
    done = change.run("pull_request", request(change.head, change.tip), HTML="true")

    assert not [word for word in done.calls["check"] if "html" in word], "a format that the command does not have"
    text = Path(done.outputs["comment-file"]).read_text()
    assert text.index("a pool is new") < text.index("one error")
    assert text.startswith("````text\n")


def test_what_fails_without_a_report_is_said_all_the_same(step):
    step.plan["check"] = {"code": 70}
    text = Path(step.run().outputs["comment-file"]).read_text()

    assert "`check` failed" in text
    assert "https://github.example/example/fleet/actions/runs/99" in text


def test_sarif_of_a_pull_request_is_not_that_of_the_base(change):
    event = request(change.head, change.tip)
    plain = change.run("pull_request", event, SARIF="true")
    target = change.run("pull_request_target", event, SARIF="true")

    assert (plain.outputs["sarif-ref"], plain.outputs["sarif-sha"]) == ("", "")
    assert (target.outputs["sarif-ref"], target.outputs["sarif-sha"]) == ("refs/pull/7/head", change.head)
    assert any(word.startswith("--output=sarif=") for word in plain.calls["check"])


def test_findings_are_annotated_once(change):
    event = request(change.head, change.tip)

    def formats(done):
        return {verb: call[call.index("--format") + 1] for verb, call in done.calls.items()}

    assert formats(change.run("pull_request", event)) == {"generate": "text", "check": "github", "diff": "text"}
    assert formats(change.run("pull_request", event, COMMANDS="diff")) == {"diff": "github"}
    assert formats(change.run("pull_request", event, COMMANDS="generate")) == {"generate": "github"}


@pytest.mark.parametrize(
    ("event", "address"),
    [
        ({}, "https://github.example/example/fleet/blob/abc"),
        (
            {"pull_request": {"head": {"sha": "def", "repo": {"html_url": "https://github.example/fork/fleet"}}}},
            "https://github.example/fork/fleet/blob/def",
        ),
        ({"pull_request": {"head": {"sha": "def", "repo": None}}}, "https://github.example/example/fleet/blob/abc"),
    ],
)
def test_lines_of_the_report_lead_to_the_head(monkeypatch, tmp_path, event, address):
    import run

    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "example/fleet")
    monkeypatch.setenv("GITHUB_SHA", "abc")

    assert run.source_address() == address
