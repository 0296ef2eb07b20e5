"""A project whose policies nobody can evaluate, for the engine is not installed: not evaluated, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_project

MISSING = "the CEL engine is not installed"
REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def project(sample_project):
    shutil.copytree(REPOSITORY / "policies", sample_project / "policies")
    return sample_project


@pytest.fixture
def without_engine(monkeypatch):
    for module in ("poolsmith.kubernetes.cel.compiled", "poolsmith.interface.app.policy_test"):
        monkeypatch.setattr(f"{module}.engine_problem", lambda: MISSING)


def check(project, **verdicts):
    return check_project(project, clusters=(), progress=lambda _done, _total: None, judging=JudgingOptions(**verdicts))


def policy_names(outcome):
    return {item.name for item in outcome.diagnostics if item.code.startswith(("PSM6", "PSM9"))}


@pytest.mark.deep("two checks of the fleet")
@pytest.mark.usefixtures("without_engine")
def test_check_counts_policies_and_their_cases_as_not_evaluated_and_fails_under_strict_only(project):
    relaxed, strict = check(project), check(project, strict=True)

    assert "undecided-by-policy" in policy_names(relaxed)
    assert not {"failed-policy-test", "untested-policy", "not-evaluated"} & policy_names(relaxed)
    unused = [item.message for item in relaxed.diagnostics if item.name == "unused-waiver"]
    assert not [message for message in unused if message.startswith("warned-by-policy")]
    assert [item.reason for item in relaxed.skipped if "test cases" in item.what] == [MISSING]
    assert relaxed.not_evaluated > 151
    assert "not-evaluated" in policy_names(strict)


@pytest.mark.usefixtures("without_engine")
def test_policy_test_says_what_is_missing(project, run_cli):
    result = run_cli(["policy", "test", "--root", project])

    assert result.code == 2
    assert MISSING in result.err


@pytest.mark.deep("two checks of the whole fleet, for the cache of one module")
def test_what_an_earlier_run_of_the_process_said_is_not_said_again(project, monkeypatch):
    with_engine = check(project)
    monkeypatch.setattr("poolsmith.kubernetes.cel.compiled.engine_problem", lambda: MISSING)
    monkeypatch.setattr("poolsmith.interface.app.policy_test.engine_problem", lambda: MISSING)

    assert "undecided-by-policy" not in policy_names(with_engine)
    assert "undecided-by-policy" in policy_names(check(project))
