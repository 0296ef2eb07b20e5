"""Shards of a fleet, each by itself, and the merge: what the run over all clusters says and writes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from poolsmith.interface.app.generate import generate
from poolsmith.project.run.run_options import Shard, shard_of
from support.git_repository import commit_all

ROOT = Path(__file__).resolve().parents[4]
TODAY = ("--today", "2026-11-20")
BAD = 1
KEPT = ("edge", "edge-talos", "lab-t4", "manual", "prod-rke2")


@pytest.fixture
def fleet(project):
    """With a hand edit, a broken profile, a stray file, a cluster without profiles and an unused base."""
    root = project
    policy = next((root / "output/clusters/prod-rke2").rglob("*.yaml"))
    policy.write_text(policy.read_text() + "# edited\n")
    pool = next((root / "profiles/edge").glob("[!c]*.yaml"))
    pool.write_text(pool.read_text().replace("kind: NodePool", "kind: NodePol"))
    (root / "output/clusters/stray.txt").write_text("x")
    shutil.copytree(root / "output/clusters/lab-t4", root / "output/clusters/gone")
    base = {"apiVersion": "poolsmith/v1", "kind": "NodePoolBase", "metadata": {"name": "nobody"}, "spec": {}}
    (root / "profiles/_bases/nobody.yaml").write_text(json.dumps(base))
    return root


def without_command(text):
    """The text report without the command that shows all of it."""
    return [line.partition(" `poolsmith ")[0] for line in text.splitlines()]


@pytest.mark.deep("a fleet whole and in shards; a comparison in shards stays")
@pytest.mark.rows(1, "the fleet is checked once whole and once in parts")
@pytest.mark.parametrize("of", [1, 2, 7])
def test_a_check_in_shards_says_what_a_check_says(fleet, shards, run_cli, of):
    reports, codes = shards(fleet, of, "check", *TODAY)
    whole = run_cli(["check", "--root", fleet, *TODAY, "--format", "json"])
    merged = run_cli(["report", "merge", "--root", fleet, *reports, "--format", "json"])

    assert merged == whole
    assert whole.code == 1
    assert BAD in codes
    assert {"PSM502", "PSM503", "PSM504"} <= {item["code"] for item in whole.diagnostics}


@pytest.mark.deep("five formats of a whole fleet, twice; JSON and text stay")
def test_the_report_is_the_same_in_each_format(fleet, shards, run_cli):
    reports, _ = shards(fleet, 3, "check", *TODAY)
    for form in ("text", "markdown", "sarif", "junit", "html"):
        whole = run_cli(["check", "--root", fleet, *TODAY, "--format", form, "-v"])
        merged = run_cli(["report", "merge", "--root", fleet, *reports, "--format", form, "-v"])

        assert merged.code == whole.code
        assert without_command(merged.out) == without_command(whole.out), form


@pytest.mark.deep("policies in CEL over five clusters, twice")
def test_policies_that_saw_nothing_and_tests_of_them_are_told_once(run_cli, shards, project):
    shutil.copytree(ROOT / "policies/admission", project / "policies/admission")
    generate(project)
    reports, _ = shards(project, 2, "check", *TODAY)

    assert run_cli(["report", "merge", "--root", project, *reports, "--format", "json"]) == run_cli(
        ["check", "--root", project, *TODAY, "--format", "json"]
    )


@pytest.mark.deep("a fleet in shards against its base")
@pytest.mark.parametrize("subject", ["commit", "work-tree"])
def test_what_a_pull_request_gains_is_found_in_shards_too(project, shards, run_cli, subject):
    root = project
    commit_all(root)
    stack = root / "profiles/edge/cluster.yaml"
    gained = "  stack:\n    values: {devicePlugin: {args: [--x]}}\n"
    stack.write_text(stack.read_text().replace("  stack:\n", gained, 1))
    shutil.rmtree(root / "profiles/lab-t4")
    if subject == "commit":
        commit_all(root, "change")
    base = "HEAD~1" if subject == "commit" else "HEAD"
    line = ("check", *TODAY, "--policies-from", base, "--strict", "--judge", subject)
    reports, _ = shards(root, 3, *line)
    whole = run_cli([*line, "--root", root, "--format", "json"])
    merged = run_cli(["report", "merge", "--root", root, *reports, "--format", "json"])

    assert merged == whole
    assert "PSM670" in {item["code"] for item in whole.diagnostics}


def test_a_comparison_in_shards_says_what_a_comparison_says(fleet, shards, run_cli):
    reports, codes = shards(fleet, 3, "generate", "--check")
    whole = run_cli(["generate", "--check", "--root", fleet, "--format", "json"])
    merged = run_cli(["report", "merge", "--root", fleet, *reports, "--format", "json"])

    assert merged == whole
    assert whole.code == 1
    assert BAD in codes


def test_what_shards_generate_on_machines_of_their_own_is_what_one_machine_generates(
    project, shards, run_cli, tmp_path, contents
):
    root = project
    for path in root.glob("profiles/*/cluster.yaml"):
        path.write_text(path.read_text().replace("path: output", "path: rendered/output"))
    shutil.copytree(root / "output/clusters/lab-t4", root / "output/clusters/gone")
    gathered, reports = tmp_path / "gathered", []
    for number in (1, 2, 3):
        machine = tmp_path / f"machine-{number}"
        shutil.copytree(root, machine)
        found = run_cli(["generate", "--root", machine, "--shard", f"{number}/3", "--format", "json"])
        assert found.code == 0
        reports.append(tmp_path / f"{number}.json")
        reports[-1].write_text(found.out)
        for name in json.loads(found.out)["shard"]["clusters"]:
            shutil.copytree(machine / "output/clusters" / name, gathered / "output/clusters" / name)
    for name in ("profiles", "policies"):
        shutil.copytree(root / name, gathered / name)
    shutil.copytree(root / "output/clusters/gone", gathered / "output/clusters/gone")
    shutil.copytree(root / "output/fleet", gathered / "output/fleet")
    without = run_cli(["report", "merge", "--root", gathered, *reports])
    merged = run_cli(["report", "merge", "--root", gathered, *reports, "--write", "--format", "json"])
    whole = run_cli(["generate", "--root", root, "--format", "json"])

    assert (without.code, "--write" in without.err) == (2, True)
    assert merged == whole
    assert contents(gathered / "output") == contents(root / "output")
    assert not (gathered / "output/clusters/gone").exists()


def test_a_shard_that_has_an_error_writes_nothing(fleet, run_cli, contents):
    before = contents(fleet)
    number = KEPT.index("edge") + 1
    found = run_cli(["generate", "--root", fleet, "--shard", f"{number}/5"])

    assert found.code == 1
    assert contents(fleet) == before


def test_the_text_of_a_shard_says_which_it_is(project, run_cli):
    found = run_cli(["check", "--root", project, "--shard", "2/5", *TODAY])

    assert "shard 2/5: 1 of 5 clusters; `poolsmith report merge` reports all of them" in found.out
    assert "2 errors" not in found.out


def test_the_report_of_a_shard_is_as_its_schema_says(project, shards):
    (report,), _ = shards(project, 1, "check", *TODAY)
    schema = json.loads((ROOT / "docs/schemas/report.schema.json").read_text())

    jsonschema.validate(json.loads(report.read_text()), schema)


# Flags


@pytest.mark.parametrize(
    "text", ["", "0/3", "4/3", "1", "1/0", "a/b", "1/3/5", "-1/3", "01/3", "1/1000", "1 / 3", "¹/3"]
)
def test_what_is_no_part_is_refused(run_cli, project, text):
    found = run_cli(["check", "--root", project, "--shard", text])

    assert found.code == 2
    assert "such as 3/8" in found.err


def test_parts_are_each_cluster_once():
    for of in range(1, 20):
        parts = [shard_of(f"{number}/{of}").part(range(13)) for number in range(1, of + 1)]
        assert sorted(item for part in parts for item in part) == list(range(13))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert str(Shard(3, 8)) == "3/8"


@pytest.mark.parametrize(
    "line",
    [
        ["check", "--cluster", "edge"],
        ["check", "--output-root", "."],
        ["check", "--against", "HEAD"],
        ["check", "--kubeconform"],
        ["check", "profiles"],
        ["check", "--cache", "cache"],
        ["generate", "--hook"],
        ["generate", "--rehash"],
        ["generate", "--output-root", "."],
        ["generate", "--check", "--against", "HEAD"],
    ],
)
def test_flags_that_go_against_it_are_refused(run_cli, line):
    found = run_cli([*line, "--root", ROOT, "--shard", "1/2"], cwd=ROOT)

    assert found.code == 2
    assert "--shard" in found.err
    assert len(found.err.splitlines()) == 1
