"""`check --policies-from` over real histories: each kind of change to the repository itself reaches the report."""

from __future__ import annotations

import json

import pytest

from change.review.repositories import Repository

CODES = ("PSM660", "PSM661", "PSM662")
WORKFLOW = "on: [pull_request]\njobs: {check: {steps: [{run: poolsmith check}]}}\n"
WAIVERS = {
    "apiVersion": "poolsmith/v1",
    "kind": "WaiverList",
    "metadata": {"name": "a"},
    "spec": {
        "waivers": [
            {"rule": "host-network", "subject": "a", "reason": "No.", "owner": "a-team", "expires": "2099-12-31"}
        ]
    },
}
HOSTILE = {
    "policies/waivers.yaml": ("PSM660", json.dumps(WAIVERS), "policy-widening"),
    ".github/workflows/check.yaml": ("PSM661", "on: push\n", "judge-change"),
    "output/clusters/c000/platform/Kustomization": ("PSM662", "resources: [https://evil.example/x]\n", None),
    "output/clusters/c000/delivery/.argocd-source-c000.yaml": ("PSM662", "kustomize: {images: [a=b]}\n", None),
    "output/clusters/unknown/delivery/evil.yaml": ("PSM662", "kind: Pod\n", None),
    "output/.gitattributes": ("PSM662", "* -diff\n", None),
    "profiles/.gitattributes": ("PSM661", "* -diff\n", "judge-change"),
    "policies/.gitattributes": ("PSM661", "*.yaml linguist-generated\n", "judge-change"),
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    return tmp_path_factory.mktemp("changes") / "project"


@pytest.fixture
def fleet(generated, synthetic_fleet, run_cli):
    """A generated project with a workflow, committed; each test leaves it as it was."""
    repository = Repository(top=generated, root=generated)
    if not generated.exists():
        synthetic_fleet(1, 1, root=generated)
        repository.write({".github/workflows/check.yaml": WORKFLOW, "policies/README.md": "text\n"})
        assert run_cli(["generate", "--root", generated]).code == 0
        repository.git("init", "-q")
        repository.commit("base")
        repository.git("tag", "the-base")
    repository.base = repository.git("rev-parse", "the-base")
    yield repository
    repository.git("checkout", "-q", "-f", repository.base)
    repository.git("clean", "-q", "-f", "-d", "-x")


@pytest.fixture
def checked(fleet, run_cli):
    """What is said of a change, by code and severity."""

    def run(*flags):
        arguments = ["check", "--root", fleet.root, "--jobs", "1", "--policies-from", fleet.base, "--format", "json"]
        result = run_cli([*arguments, *flags])
        assert result.err == ""
        found = [(item["code"], item["severity"], item["primary"]["path"]) for item in result.diagnostics]
        return result.code, [item for item in found if item[0] in CODES]

    return run


@pytest.mark.rows(3, "a row takes 0.23 s; each value of each column is seen first")
@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_change_fails_with_a_finding_that_names_the_file(fleet, checked, path):
    code, text, way_through = HOSTILE[path]
    fleet.write({path: text})
    fleet.commit()

    exit_code, found = checked()

    assert exit_code == 1
    assert (code, "error", path) in found
    for name in ("policy-widening", "judge-change"):
        _, accepted = checked("--accept", name)
        assert (code, "note" if name == way_through else "error", path) in accepted


def test_a_harmless_change_is_free(fleet, checked, run_cli):
    cluster = fleet.root / "profiles/c000/cluster.yaml"
    cluster.write_text(f"# a comment\n{cluster.read_text()}")
    fleet.write({"docs/page.md": "text\n", "policies/README.md": "other\n"})
    assert run_cli(["generate", "--root", fleet.root]).code == 0
    fleet.commit()

    assert checked()[1] == []


def test_accepting_is_about_a_change(run_cli, tmp_path):
    result = run_cli(["check", "--root", tmp_path, "--accept", "policy-widening"])

    assert result.code == 2
    assert "--policies-from" in result.err


def test_the_command_line_knows_what_can_be_accepted():
    from poolsmith.guard.policies.applied_policies import ACCEPTABLE
    from poolsmith.interface.cli.check import command

    (option,) = [item for item in command.params if item.name == "accepted"]
    assert tuple(option.type.choices) == ACCEPTABLE
