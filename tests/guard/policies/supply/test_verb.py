"""poolsmith supply: the policy for what a fleet takes, written once, and signed by people."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.privilege_check import privilege_view
from poolsmith.guard.policies.supply.supply_check import judge_supply
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project

pytestmark = pytest.mark.sample


def outside(root):
    project = open_project(root)
    assert project.policies.supply.is_kept
    for files in project.select(()):
        run = run_cluster(project, files)
        yield from judge_supply(
            project.policies.supply.spec, run.prediction, privilege_view(run.prediction, run.loaded)
        )


@pytest.mark.deep("a whole run, 1.2 s; its parts have tests of their own")
def test_what_is_written_allows_the_fleet_and_waits_for_signatures(run_cli, sample_project):
    profile = (
        sample_project / "profiles/claims/cluster.yaml"
    )  # with a gate behind which the driver starts what is not known
    text = profile.read_text()
    profile.write_text(text.replace("  poolLabel:", "    draDriver: {featureGates: {MPSSupport: true}}\n  poolLabel:"))
    printed = run_cli(["supply", "--root", sample_project])
    result = run_cli(["supply", "--write", "--root", sample_project])

    assert (printed.code, result.code) == (0, 0)
    assert (sample_project / "policies/supply.yaml").read_text() == printed.out
    assert (sample_project / "policies/_schemas/supply-policy.schema.json").exists()
    assert list(outside(sample_project)) == []
    problems = open_project(sample_project).policies.loaded_supply[1]
    assert {item.name for item in problems} == {"unexplained-acceptance"}


def test_what_is_written_is_what_the_sample_has(run_cli, sample_project, repository):
    run_cli(["supply", "--write", "--root", sample_project])
    ours, theirs = (open_project(root).policies.supply.spec for root in (repository, sample_project))
    for name in ("chart_repositories", "git_repositories", "deliveries", "image_registries", "mirrors"):
        assert sorted(map(repr, getattr(ours, name))) == sorted(map(repr, getattr(theirs, name)))


def test_a_file_that_exists_is_never_changed(run_cli, sample_project):
    (sample_project / "policies").mkdir()
    (sample_project / "policies/supply.yaml").write_text("mine\n")
    result = run_cli(["supply", "--write", "--root", sample_project])

    assert result.code == 1
    assert "exists, and is not changed" in result.err
    assert (sample_project / "policies/supply.yaml").read_text() == "mine\n"


def test_mirrors_are_undone_and_what_no_policy_can_allow_is_told(run_cli, sample_project):
    profile = sample_project / "profiles/lab-t4/cluster.yaml"
    text = profile.read_text()
    profile.write_text(
        text
        + "  registry:\n    mirrors:\n      nvcr.io: mirror.example.com/nvcr\n  smokeTest: {image: nvcr.io/a/../b}\n"
    )
    result = run_cli(["supply", "--write", "--root", sample_project])

    assert result.code == 0, result.err
    assert "no policy can allow" in result.err
    spec = open_project(sample_project).policies.supply.spec
    assert spec.mirrors == {"nvcr.io": ("mirror.example.com/nvcr",)}
    assert not any("mirror.example.com" in text for text in spec.image_registries)
