"""Shards of a fleet, each by itself, and the merge: what the run over all clusters says and writes."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
import zlib
from contextlib import suppress
from pathlib import Path

import jsonschema
import pytest

from poolsmith.app.generate import generate
from poolsmith.app.merge import merge
from poolsmith.app.shard import Shard, shard_of
from poolsmith.app.shard_part import ShardError, read_part
from poolsmith.diagnostics import UsageError

ROOT = Path(__file__).resolve().parents[2]
TODAY = ("--today", "2026-11-20")
BAD = 1
KEPT = ("edge", "edge-talos", "lab-t4", "manual", "prod-rke2")


@pytest.fixture
def project(tmp_path):
    """Five clusters of the sample fleet, of both delivery engines, without admission policies: these take longest."""
    root = tmp_path / "project"
    root.mkdir()
    for folder in ("profiles", "policies", "output"):
        shutil.copytree(ROOT / folder, root / folder)
    for folder in (*(root / "profiles").glob("[!_]*"), *(root / "output/clusters").iterdir()):
        if folder.name not in KEPT:
            shutil.rmtree(folder)
    shutil.rmtree(root / "policies/admission")
    generate(root)
    return root


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


@pytest.fixture
def shards(run_cli, tmp_path):
    """The reports of so many shards of a verb, and how each ended."""

    def run(root, of, *line):
        reports, codes = [], []
        for number in range(1, of + 1):
            found = run_cli([*line, "--root", root, "--shard", f"{number}/{of}", "--format", "json"])
            assert found.err == ""
            path = tmp_path / f"shard-{len(list(tmp_path.iterdir()))}.json"
            path.write_text(found.out)
            reports.append(path)
            codes.append(found.code)
        return reports, codes

    return run


def without_command(text):
    """The text report without the command that shows all of it."""
    return [line.partition(" `poolsmith ")[0] for line in text.splitlines()]


@pytest.mark.parametrize("of", [1, 2, 7])
def test_a_check_in_shards_says_what_a_check_says(fleet, shards, run_cli, of):
    reports, codes = shards(fleet, of, "check", *TODAY)
    whole = run_cli(["check", "--root", fleet, *TODAY, "--format", "json"])
    merged = run_cli(["report", "merge", "--root", fleet, *reports, "--format", "json"])

    assert merged == whole
    assert whole.code == 1
    assert BAD in codes
    assert {"PSM502", "PSM503", "PSM504"} <= {item["code"] for item in whole.diagnostics}


def test_the_report_is_the_same_in_each_format(fleet, shards, run_cli):
    reports, _ = shards(fleet, 3, "check", *TODAY)
    for form in ("text", "markdown", "sarif", "junit", "html"):
        whole = run_cli(["check", "--root", fleet, *TODAY, "--format", form, "-v"])
        merged = run_cli(["report", "merge", "--root", fleet, *reports, "--format", form, "-v"])

        assert merged.code == whole.code
        assert without_command(merged.out) == without_command(whole.out), form


def test_policies_that_saw_nothing_and_tests_of_them_are_told_once(run_cli, shards, project):
    shutil.copytree(ROOT / "policies/admission", project / "policies/admission")
    generate(project)
    reports, _ = shards(project, 2, "check", *TODAY)

    assert run_cli(["report", "merge", "--root", project, *reports, "--format", "json"]) == run_cli(
        ["check", "--root", project, *TODAY, "--format", "json"]
    )


def test_what_a_pull_request_gains_is_found_in_shards_too(project, shards, run_cli):
    root = project
    git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], check=True)
    stack = root / "profiles/edge/cluster.yaml"
    gained = "  stack:\n    values: {devicePlugin: {args: [--x]}}\n"
    stack.write_text(stack.read_text().replace("  stack:\n", gained, 1))
    shutil.rmtree(root / "profiles/lab-t4")
    line = ("check", *TODAY, "--policies-from", "HEAD", "--strict")
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

    assert "shard 2/5: 1 of 5 clusters; `poolsmith report merge` tells of all" in found.out
    assert "2 errors" not in found.out


def test_the_report_of_a_shard_is_as_its_schema_says(project, shards):
    (report,), _ = shards(project, 1, "check", *TODAY)
    schema = json.loads((ROOT / "docs/schemas/report.schema.json").read_text())

    jsonschema.validate(json.loads(report.read_text()), schema)


# Shards that are none of this run


def refused(root, paths, says, error=ShardError, **more):
    with pytest.raises(error) as told:
        merge(root, paths, **more)
    assert says in str(told.value), told.value
    assert len(str(told.value).splitlines()) == 1


def test_each_shard_has_to_be_there_once(project, shards):
    reports, _ = shards(project, 3, "generate", "--check")

    refused(project, reports[:1], "of 3 shards `2`, `3` are not among the files")
    copy = reports[0].with_name("copy.json")
    shutil.copy(reports[0], copy)
    refused(project, [*reports, copy], "are both shard 1/3")


def test_shards_of_different_runs_are_told_apart(project, shards):
    compared, _ = shards(project, 2, "generate", "--check")
    judged, _ = shards(project, 2, "check", *TODAY)
    strict, _ = shards(project, 2, "check", *TODAY, "--strict")
    of_three, _ = shards(project, 3, "check", *TODAY)

    refused(project, [compared[0], judged[1]], "work is `check` in the one, and `generate --check` in the other")
    refused(project, [judged[0], strict[1]], "strict is `True` in the one")
    refused(project, [judged[0], of_three[1]], "one of 3 shards, and one of 2")
    refused(project, judged, "--write is for shards of `generate`", UsageError, writes=True)


def test_a_run_that_begins_before_midnight_may_end_after_it(project, run_cli, tmp_path):
    reports = []
    for number, day in ((1, "2026-11-20"), (2, "2026-11-21")):
        line = ["check", "--root", project, "--shard", f"{number}/2", "--today", day, "--format", "json"]
        reports.append(tmp_path / f"{number}.json")
        reports[-1].write_text(run_cli(line).out)
    whole = run_cli(["check", "--root", project, "--today", "2026-11-21", "--format", "json"])

    assert run_cli(["report", "merge", "--root", project, *reports, "--format", "json"]) == whole


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("profiles/prod-rke2/cluster.yaml", "profiles/prod-rke2 or output/clusters/prod-rke2 is not what it looked at"),
        (
            "output/clusters/prod-rke2/README.md",
            "profiles/prod-rke2 or output/clusters/prod-rke2 is not what it looked at",
        ),
        ("policies/waivers.yaml", "of other files or of another poolsmith"),
        ("profiles/_bases/new.yaml", "of other files or of another poolsmith"),
        ("profiles/new/cluster.yaml", "of other files or of another poolsmith"),
    ],
)
def test_files_that_the_shards_did_not_look_at_are_told(project, shards, path, says):
    reports, _ = shards(project, 2, "generate", "--check")
    changed = project / path
    changed.parent.mkdir(exist_ok=True)
    changed.write_text((changed.read_text() if changed.exists() else "") + "\n# changed\n")

    refused(project, reports, says)


def test_what_is_no_report_of_a_shard_is_told(project, run_cli, tmp_path):
    whole = tmp_path / "whole.json"
    whole.write_text(run_cli(["generate", "--check", "--root", project, "--format", "json"]).out)
    for text, says in (
        (whole.read_text(), "is no report of a shard"),
        ("", "is no JSON report"),
        ("[]", "is no report of a shard"),
        ('{"shard": 5}', "is no report of a shard"),
        ('{"shard": {}}', "damaged"),
        ("[" * 100_000, "is no JSON report"),
    ):
        path = tmp_path / "x.json"
        path.write_text(text)
        refused(project, [path], says)
    refused(project, [tmp_path / "none.json"], "can't be read", UsageError)


def test_a_report_that_somebody_has_made_up_is_damaged_and_no_bug(project, shards):
    (report,), _ = shards(project, 1, "check", *TODAY)
    body = json.loads(report.read_text())
    results = json.loads(zlib.decompress(base64.b64decode(body["shard"]["results"])))[:1]
    draw = random.Random(5)
    read = 0
    for _ in range(300):
        spoiled = json.loads(json.dumps(results))
        spoil(draw, spoiled)
        packed = base64.b64encode(zlib.compress(json.dumps(spoiled).encode())).decode()
        text = json.dumps({**body, "shard": {**body["shard"], "results": packed}})
        with suppress(ShardError):
            read_part(text, "x.json")
            read += 1
    assert 0 < read < 150  # a text may be another text
    for held in ("!", base64.b64encode(b"no zlib").decode(), packed[: len(packed) // 2 // 4 * 4]):
        with pytest.raises(ShardError, match="damaged"):
            read_part(json.dumps({**body, "shard": {**body["shard"], "results": held}}), "x.json")


def spoil(draw, value):
    """One value somewhere below is replaced by another one."""
    while True:
        places = list(range(len(value))) if isinstance(value, list) else list(value)
        place = draw.choice(places)
        below = value[place]
        if not isinstance(below, list | dict) or not below or draw.random() < 0.1:
            value[place] = draw.choice([None, True, -1, 1 << 70, "", "x", [], {}, [[]], {"a": 1}])
            return
        value = below


def test_a_bomb_is_not_unpacked(project, shards, monkeypatch):
    monkeypatch.setattr("poolsmith.app.shard_part._MOST_BYTES", 1 << 20)
    (report,), _ = shards(project, 1, "generate", "--check")
    body = json.loads(report.read_text())
    bomb = base64.b64encode(zlib.compress(b" " * (1 << 24))).decode()

    with pytest.raises(ShardError, match="too large"):
        read_part(json.dumps({**body, "shard": {**body["shard"], "results": bomb}}), "x.json")


def test_secrets_are_in_no_report_of_a_shard(project, shards):
    token = "ghp_" + "a1B2" * 9
    pool = next((project / "profiles/edge").glob("[!c]*.yaml"))
    pool.write_text(pool.read_text().replace("spec:\n", f"spec:\n  owner: {token}\n", 1))
    for line in (("check", *TODAY), ("generate", "--check")):
        reports, _ = shards(project, 2, *line)
        for report in reports:
            held = json.loads(report.read_text())["shard"]["results"]
            assert token not in report.read_text() + zlib.decompress(base64.b64decode(held)).decode()


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
        ["generate", "--hook"],
        ["generate", "--output-root", "."],
        ["generate", "--check", "--against", "HEAD"],
    ],
)
def test_flags_that_go_against_it_are_refused(run_cli, line):
    found = run_cli([*line, "--root", ROOT, "--shard", "1/2"], cwd=ROOT)

    assert found.code == 2
    assert "--shard" in found.err
    assert len(found.err.splitlines()) == 1
