"""`diff --save` and `verify --plan`: what somebody looked at is what is applied, or it is named what differs."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import pytest

from poolsmith.interface.app.diff import DiffOptions, judged_change
from poolsmith.interface.app.plan_file import save_plan
from poolsmith.kubernetes.live.snapshot import to_text
from support.git_repository import commit_all, git
from support.live_cluster import recorded_snapshot, view

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """One cluster of the sample fleet, committed twice, and what its API server has."""
    root = tmp_path_factory.mktemp("fleet")
    for name in ("profiles/_bases", "profiles/edge", "policies", "output/clusters/edge"):
        shutil.copytree(ROOT / name, root / name)
    git(root, "init", "-q", "-b", "main")
    file = root / "profiles/edge/l4.yaml"
    for message, text in (("first", f"{file.read_text()}# first\n"), ("second", file.read_text())):
        file.write_text(text)
        commit_all(root, message)
    cluster = root.parent / "edge.json"
    cluster.write_text(to_text(recorded_snapshot(view(ROOT, "edge"))))
    return root, cluster


@pytest.fixture(scope="module")
def plan(fleet):
    return judged(fleet[0], "HEAD")


def judged(root, head):
    options = DiffOptions(today=dt.date(2026, 11, 20), base="HEAD~1", head=head)
    save_plan(root.parent / f"{head}.json", judged_change(root, options), ())
    return (root.parent / f"{head}.json").read_text()


@pytest.fixture
def saved(fleet, plan, tmp_path):
    root, _ = fleet
    file = tmp_path / "plan.json"
    file.write_text(plan)
    yield file
    git(root, "checkout", "-q", "--", ".")
    git(root, "clean", "-qfd")


@pytest.fixture
def verify(fleet, run_cli):
    root, cluster = fleet

    def call(plan, *more):
        return run_cli(["verify", "--root", root, "--from", cluster, "--plan", plan, *more])

    return call


def test_what_was_judged_is_what_is_held_against_the_cluster(saved, verify):
    result = verify(saved)

    assert result.code == 0, result.out + result.err
    assert f"what is checked out is what {saved} judged since " in result.out


def test_the_file_is_the_same_each_time(fleet, saved, tmp_path, run_cli):
    again = tmp_path / "again.json"
    run_cli(["diff", "--root", fleet[0], "--base", "HEAD~1", "--head", "HEAD", "--save", again])

    assert again.read_bytes() == saved.read_bytes()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda body: body["change"].update(pools=7), "was altered after it was saved"),
        (lambda body: body.update(verdict="quiet"), "was altered after it was saved"),
        (lambda body: body["digests"].clear(), "was altered after it was saved"),
        (lambda body: body.pop("seal"), "was altered after it was saved"),
        (lambda body: body.update(version=2), "version 2"),
        (lambda body: body.update(kind="other"), "is no plan"),
    ],
)
def test_an_altered_plan_is_refused(saved, verify, edit, said):
    body = json.loads(saved.read_text())
    edit(body)
    saved.write_text(json.dumps(body))
    result = verify(saved)

    assert (result.code, said in result.err) == (2, True), result.err


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\udcff", '{"kind": "poolsmith plan"}'])
def test_what_is_no_plan_is_refused(saved, verify, text):
    saved.write_text(text, "utf-8", "surrogateescape")
    result = verify(saved)

    assert result.code == 2
    assert "Traceback" not in result.err
    assert str(saved) in result.err


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("profiles/edge/l4.yaml", "profiles/edge"),
        ("policies/enforcement.yaml", "policies"),
        ("output/clusters/edge/poolsmith.lock.json", "output/clusters/edge"),
        ("profiles/edge/new.yaml", "profiles/edge"),
    ],
)
def test_a_stale_plan_names_what_differs(fleet, saved, verify, path, folder):
    with (fleet[0] / path).open("a") as file:
        file.write("\n")
    result = verify(saved)

    assert result.code == 2
    assert f"{saved} is stale: `{folder}` differs from what it judged" in result.err


def test_a_plan_of_another_commit_names_both(fleet, tmp_path, verify):
    file = tmp_path / "older.json"
    file.write_text(judged(fleet[0], "HEAD~1"))
    result = verify(file)

    assert result.code == 2
    assert "is checked out: `profiles/edge` differs" in result.err


def test_a_plan_of_other_clusters_is_refused(fleet, saved, verify, run_cli):
    root, _ = fleet
    run_cli(["diff", "--root", root, "--base", "HEAD~1", "--cluster", "edge", "--save", saved])

    assert verify(saved, "edge").code == 0
    assert f"{saved} judges `edge`, not `other`" in verify(saved, "other").err
