"""`run` is `generate` and then `check`: the same files, and the same findings."""

from __future__ import annotations

import datetime as dt
import shutil

import pytest

from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_project, generate
from poolsmith.interface.app.one_run import run_project
from poolsmith.project.output.result_store import open_store
from support.git_repository import commit_all

JUDGING = JudgingOptions(today=dt.date(2026, 11, 20))


@pytest.fixture
def project(sample_project):
    """With its output."""
    generate(sample_project)
    return sample_project


def files(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "output").rglob("*") if path.is_file()
    }


def unchanged(_root):
    """As it is committed."""


def no_output(root):
    shutil.rmtree(root / "output")


def changed_profile(root):
    path = root / "profiles/edge/l4.yaml"
    path.write_text(path.read_text().replace("metadata:", "# more\nmetadata:", 1))


def hand_edit(root):
    path = root / "output/clusters/edge/platform/values/gpu-operator.yaml"
    path.write_text(path.read_text() + "# edited\n")


def foreign_file(root):
    (root / "output/clusters/edge/delivery/more.yaml").write_text("kind: [\n")


def orphan(root):
    shutil.copytree(root / "output/clusters/edge", root / "output/clusters/gone")


def mistake(root):
    path = root / "profiles/edge/l4.yaml"
    path.write_text(path.read_text() + "odd: 1\n")


EDITS = [unchanged, no_output, changed_profile, hand_edit, foreign_file, orphan, mistake]


@pytest.mark.rows(2, "a run, and the two that it stands for, over four clusters")
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_it_writes_and_says_what_the_two_write_and_say(project, tmp_path, edit):
    edit(project)
    other = tmp_path / "other"
    shutil.copytree(project, other, symlinks=True)

    one = run_project(project, judging=JUDGING)
    first = generate(other)
    second = check_project(other, judging=JUDGING)

    assert files(project) == files(other)
    assert (one.generated.changed, one.generated.removed) == (first.changed, first.removed)
    assert one.generated.outcome == first.outcome
    if not first.written:
        assert one.outcome == first.outcome
        return
    told = {item.fingerprint: item for item in (*first.outcome.diagnostics, *second.diagnostics)}
    assert {item.fingerprint: item for item in one.outcome.diagnostics} == told
    assert one.outcome.facts == (*first.outcome.facts, *second.facts)
    assert (one.outcome.checked, one.outcome.skipped) == (second.checked, second.skipped)


def test_what_a_check_remembers_is_not_done_again(project, tmp_path, monkeypatch):
    store = open_store(str(tmp_path / "store"))
    worked = []
    monkeypatch.setattr("poolsmith.interface.app.run.run_cluster", counting(worked))

    first = run_project(project, judging=JUDGING, store=store)
    again = run_project(project, judging=JUDGING, store=store)

    assert sorted(worked) == ["edge", "edge-talos", "manual", "prod-eu"]
    assert (again.outcome.diagnostics, again.outcome.checked) == (first.outcome.diagnostics, first.outcome.checked)
    changed_profile(project)
    run_project(project, judging=JUDGING, store=store)
    assert sorted(worked)[:2] == ["edge", "edge"]
    assert len(worked) == 5


def counting(worked):
    from poolsmith.interface.app.run import run_cluster

    def counted(project, files):
        worked.append(files.name)
        return run_cluster(project, files)

    return counted


def test_the_verb_says_both_and_takes_the_code_of_the_worse(project, run_cli):
    result = run_cli(["run", "--root", project, "--today", "2026-11-20", "--jobs", "1"])

    assert result.code == 0
    assert "files are as the profiles generate them\nthe output is what the profiles generate\n" in result.out
    mistake(project)
    assert run_cli(["run", "--root", project, "--jobs", "1"]).code == 1


def test_a_hook_says_what_to_add(project, run_cli):
    commit_all(project)
    assert run_cli(["run", "--hook", "--root", project, "--today", "2026-11-20"]).code == 0
    no_output(project)

    result = run_cli(["run", "--hook", "--root", project, "--today", "2026-11-20"])

    assert (result.code, "the output was generated again" in result.err) == (1, True)
