"""The actions and example workflows as files: what they may do, what they use, and that the page says the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/github.md"
ACTIONS = [ROOT / "action.yml", ROOT / "action/comment/action.yml", ROOT / "action/install/action.yml"]
EXAMPLES = sorted((ROOT / "examples/github").glob("*.yaml"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))
PINS = read_documents((Path(__file__).parent / "action_pins.yaml").read_text("utf-8"))[0]
OURS = "example/poolsmith"
RIGHTS = {
    "profiles.yaml": {"check": {"contents": "read", "pull-requests": "read"}, "comment": {"pull-requests": "write"}},
    "forks.yaml": {"check": {"contents": "read"}},
    "forks-comment.yaml": {"comment": {"actions": "read", "pull-requests": "write"}},
    "regenerate.yaml": {"regenerate": {"contents": "read"}},
    "provenance.yaml": {"locks": {"contents": "read"}, "attest": {"id-token": "write", "attestations": "write"}},
}


def body(path):
    return read_documents(path.read_text("utf-8"))[0]


def names(path):
    return path.relative_to(ROOT).as_posix()


def steps_of(path):
    found = body(path)
    if "runs" in found:
        return found["runs"]["steps"]
    return [step for job in found["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", [*ACTIONS, *EXAMPLES], ids=names)
def test_nothing_that_others_chose_gets_into_a_script(path):
    for step in steps_of(path):
        assert "${{" not in step.get("run", "")
        if "checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", ACTIONS, ids=names)
def test_every_input_is_used_and_every_output_is_made(path):
    found = body(path)
    steps = json.dumps(found["runs"]["steps"])
    assert found["runs"]["using"] == "composite"
    assert all(step.get("shell") == "bash" for step in found["runs"]["steps"] if "run" in step)
    assert set(re.findall(r"inputs\.([\w-]+)", steps)) == set(found["inputs"])
    made = "".join(script.read_text("utf-8") for script in (ROOT / "action").glob("*.py")) + steps
    for name, item in found["outputs"].items():
        assert re.fullmatch(rf"\$\{{\{{ steps\.[\w-]+\.outputs\.{name} \}}\}}", item["value"])
        last = name.replace("-", "_")
        assert re.search(rf'"{last}"|\b{last}=|_exit_code"', made), name


def test_both_actions_install_in_the_same_way():
    main, install = (
        [step for step in steps_of(path) if step["name"] in ("Python", "Install poolsmith with what it has locked")]
        for path in (ACTIONS[0], ACTIONS[2])
    )
    for step in install:
        step.pop("id", None)
        if "run" in step:
            step["run"] = step["run"].replace("/../..", "").rpartition("echo ")[0]
    assert install == main


@pytest.mark.parametrize("path", [*ACTIONS, *EXAMPLES, *WORKFLOWS], ids=names)
def test_no_commit_of_an_action_is_invented(path):
    for line in re.findall(r"uses: (.*)", path.read_text("utf-8")):
        used, _, commit = line.partition("@")
        if used == OURS or used.startswith(("./", f"{OURS}/")):
            continue
        pin = PINS[used]
        assert commit == f"{pin['commit']}  # {pin['release']}"


@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_an_example_has_the_rights_that_it_needs(path):
    found = body(path)

    assert found["permissions"] == {}
    assert {name: job["permissions"] for name, job in found["jobs"].items()} == RIGHTS[path.name]
    assert all("timeout-minutes" in job for job in found["jobs"].values())
    assert names(path).removeprefix("examples/") in PAGE.read_text("utf-8") or f"({names(path)})" in PAGE.read_text()


@pytest.mark.parametrize("path", EXAMPLES, ids=names)
def test_secrets_are_named_only_where_a_token_is_made(path):
    for step in steps_of(path):
        assert ("secrets." in json.dumps(step)) is step.get("uses", "").startswith("actions/create-github-app-token@")


@pytest.mark.tool("zizmor")
def test_zizmor_finds_nothing(tmp_path):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    for path in EXAMPLES:
        (folder / path.name).write_text(path.read_text("utf-8").replace("<full commit id>", "0" * 40))
    inputs = [str(path) for path in (*ACTIONS, *sorted(folder.iterdir()))]
    command = ["zizmor", "--offline", "--no-progress", "--quiet", "--persona", "pedantic", *inputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("what", ["inputs", "outputs"])
def test_the_page_has_every_input_and_output(what):
    found = body(ACTIONS[0])[what]
    rows = []
    for name, item in found.items():
        default = item.get("default", "")
        shown = "the job's" if "${{" in default else f"`{default}`" if default else ""
        told = item["description"].rstrip(".")
        rows.append(f"| `{name}` | {shown} | {told} |" if what == "inputs" else f"| `{name}` | {told} |")
    rows = [row.replace("|  |", "| |") for row in rows]
    text = PAGE.read_text("utf-8")
    before, begin, rest = text.partition(f"<!-- {what}:begin -->\n")
    shown, end, after = rest.partition(f"<!-- {what}:end -->")
    head = (
        "| input | default | meaning |\n| --- | --- | --- |\n"
        if what == "inputs"
        else "| output | meaning |\n| --- | --- |\n"
    )
    wanted = head + "\n".join(rows) + "\n"
    if os.environ.get("UPDATE_DOCS") == "1" and not os.environ.get("TESTS_RUN_IN_CI"):
        PAGE.write_text(before + begin + wanted + end + after, "utf-8")
        return
    assert shown == wanted, "run `UPDATE_DOCS=1 python -m pytest tests/action` and commit docs/github.md"
