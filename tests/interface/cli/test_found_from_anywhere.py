"""A project is found from below it, and what people type in another way is taken, or told in one line."""

from __future__ import annotations

import pytest

from poolsmith.interface.cli.verbs import GROUPS, VERBS


def test_a_project_is_found_from_a_folder_below(run_cli, sample_project):
    below = sample_project / "profiles/edge"

    result = run_cli(["generate", "--check", "edge"], cwd=below)

    assert "checked 1 cluster" in result.out


def test_no_project_beyond_the_repository(run_cli, sample_project):
    inner = sample_project / "vendor/other"
    (inner / ".git").mkdir(parents=True)

    assert run_cli(["generate", "--check"], cwd=inner).code == 3


def test_init_stays_where_it_is(run_cli, sample_project):
    inner = sample_project / "inner"
    inner.mkdir()

    run_cli(["init", "new"], cwd=inner)

    assert (inner / "profiles/new/cluster.yaml").exists()
    assert not (sample_project / "profiles/new").exists()


@pytest.mark.parametrize(("typed", "meant"), [("chekc", "check"), ("gen", "generate"), ("ledgers", "ledger")])
def test_a_misspelt_command_is_suggested(run_cli, typed, meant):
    result = run_cli([typed])

    assert result.code == 2
    assert f"did you mean `{meant}`?" in result.err


def test_the_name_of_a_cluster_is_no_path(run_cli, sample_project):
    result = run_cli(["check", "edge", "--root", sample_project])

    assert result.code == 2
    assert "poolsmith check --cluster edge" in result.err


def test_every_verb_stands_in_one_group_of_the_help(run_cli):
    grouped = [name for names in GROUPS.values() for name in names]

    assert sorted(grouped) == sorted(VERBS)
    assert all(f"\n{title}:\n" in run_cli(["--help"]).out for title in GROUPS)


@pytest.mark.parametrize("verb", ["rules", "explain PSM101", "diff --help", "policy test --help", "catalog list"])
def test_every_verb_takes_no_color(run_cli, verb, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "")

    assert run_cli([*verb.split(), "--no-color"]).code == 0


def test_colour_can_be_forced(run_cli, sample_project, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert "\x1b[" in run_cli(["generate", "--check", "edge", "--root", sample_project]).out
