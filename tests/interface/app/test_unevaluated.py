"""What could not be evaluated: counted, accepted by its very words, and against a base an error of its own."""

from __future__ import annotations

import datetime as dt
import shutil

import pytest

from poolsmith.core.diagnostics import whole_file
from poolsmith.core.diagnostics.outcome import Unevaluated
from poolsmith.guard.policies.policies import Policies
from poolsmith.guard.policies.supply.supply_policy import NO_SUPPLY
from poolsmith.interface.app.cluster_judgement import sorted_out
from support.git_repository import commit_all, git

TODAY = dt.date(2027, 1, 1)


UNKNOWN = """\
  acceptUnknown:
    - cluster: kata-a10
      unit: coco-operator
      source: https://github.com/confidential-containers/operator
      revision: refs/tags/v0.8.0
      unknown: what https://github.com/confidential-containers/operator at refs/tags/v0.8.0 brings
      reason: The manifests at that tag were read.
      owner: confidential-computing
      expires: "2027-03-31"
"""


@pytest.fixture
def supply(repository, tmp_path):
    """The sample fleet's policy, with something accepted that nobody evaluates."""
    path = tmp_path / "accepting/policies/supply.yaml"
    path.parent.mkdir(parents=True)
    path.write_text((repository / "policies/supply.yaml").read_text() + UNKNOWN)
    return Policies(tmp_path / "accepting").supply


@pytest.fixture
def coco(supply):
    entry = supply.spec.accept_unknown[0]
    return Unevaluated(
        cluster=entry.cluster,
        what=entry.unknown,
        place=whole_file("profiles/kata-a10/cluster.yaml"),
        unit=entry.unit,
        source=entry.source,
        revision=entry.revision,
    )


def follower():
    return Unevaluated(cluster="", what="whether a grant is needed", place=whole_file("a"), follows_from_unknown=True)


def names(found):
    return [item.name for item in found.diagnostics]


def test_what_is_accepted_is_counted_apart_and_what_follows_from_it_too(supply, coco):
    found = sorted_out([coco, follower()], supply, TODAY, complete=True, needs_answer=True)
    assert (found.open, found.accepted, names(found)) == (0, 2, [])


@pytest.mark.parametrize("field", ["cluster", "what", "unit", "source", "revision"])
def test_anything_else_about_it_is_something_else(supply, coco, field):
    other = type(coco)(**{name: getattr(coco, name) for name in type(coco).__dataclass_fields__} | {field: "x"})
    found = sorted_out([other, follower()], supply, TODAY, complete=True, needs_answer=True)
    assert (found.open, found.accepted) == (2, 0)
    assert names(found) == ["unused-acceptance", "unanswered-unknown", "unanswered-unknown"]


def test_it_ends_with_its_day(supply, coco):
    found = sorted_out([coco], supply, dt.date(2027, 4, 1), complete=True, needs_answer=True)
    assert (found.open, names(found)) == (1, ["expired-acceptance", "unanswered-unknown"])


def test_without_a_base_it_is_only_counted(coco):
    found = sorted_out([coco], NO_SUPPLY, TODAY, complete=True, needs_answer=False)
    assert (found.open, found.accepted, names(found)) == (1, 0, [])


@pytest.fixture
def fleet(repository, tmp_path):
    """The sample fleet as a repository with one commit."""
    root = tmp_path / "fleet"
    for name in ("profiles", "policies", "output"):
        shutil.copytree(repository / name, root / name)
    git(root, "init", "-q", "-b", "main")
    return root


def commit(root):
    commit_all(root, "x")


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
def test_a_base_without_a_supply_policy_is_one_error_that_names_the_command(fleet, run_cli):
    text = (fleet / "policies/supply.yaml").read_text()
    (fleet / "policies/supply.yaml").unlink()
    commit(fleet)
    arguments = [
        "check",
        "--root",
        fleet,
        "--jobs",
        "1",
        "--policies-from",
        "HEAD",
        "--judge",
        "work-tree",
        "--format",
        "json",
    ]
    first = run_cli([*arguments, "--cluster", "kata-a10"])
    errors = [item for item in first.diagnostics if item["severity"] == "error"]
    assert [item["name"] for item in errors] == ["no-supply-policy"]
    assert "poolsmith supply --write" in errors[0]["help"]

    (fleet / "policies/supply.yaml").write_text(text)
    accepted = run_cli([*arguments, "--cluster", "kata-a10", "--accept", "policy-widening"])
    assert [item["name"] for item in accepted.diagnostics if item["severity"] == "error"] == []


@pytest.mark.deep("a check of the whole fleet")
def test_the_sample_fleet_needs_no_more_answers(fleet, run_cli):
    commit(fleet)
    found = run_cli(
        ["check", "--root", fleet, "--jobs", "1", "--policies-from", "HEAD", "--strict", "--today", "2026-11-22"]
    )
    assert found.code == 0, found.out
    assert "0 not evaluated" in found.out
