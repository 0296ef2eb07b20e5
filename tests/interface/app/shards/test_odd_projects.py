"""Projects in odd states: shards and their merge say what one run says, whatever stands there."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from json import loads

import pytest

from poolsmith.interface.app.generate import generate

TODAY = ("--today", "2026-11-20")
TOKEN = "ghp_" + "a1B2" * 9


def edited(root):
    """A drift that this repository takes as a warning."""
    rules = root / "policies/rules.yaml"
    rules.write_text(f"{rules.read_text()}    hand-edited: {{severity: warning}}\n")
    values = next((root / "output/clusters/edge").rglob("*.yaml"))
    values.write_text(f"{values.read_text()}# edited\n")


def in_the_way(root):
    folder = root / "output/clusters/edge"
    folder.rename(root / "elsewhere")
    folder.write_text("a file")


def huge(root):
    with (root / "output/clusters/edge/huge.yaml").open("wb") as file:
        file.truncate(200 << 20)


def linked(root):
    (root / "profiles/edge/more.yaml").symlink_to("/etc/hostname")
    (root / "output/clusters/manual/more.yaml").symlink_to("gone")


def without_output(root):
    (root / "output").rename(root / "elsewhere")


def like_a_token(root):
    for folder in ("profiles", "output/clusters"):
        (root / folder / "edge").rename(root / folder / "xoxb-staging-eu-1")
    stack = root / "profiles/xoxb-staging-eu-1/cluster.yaml"
    stack.write_text(re.sub("name: edge$", "name: xoxb-staging-eu-1", stack.read_text(), flags=re.MULTILINE))
    generate(root)


def broken_base(root):
    for path in sorted((root / "profiles/_bases").glob("*.yaml"))[:1]:
        path.write_text("kind: [")


def no_utf8(root):
    (root / "profiles/edge/cluster.yaml").write_bytes(b"\xff\xfe\x00")
    (root / "output/clusters/manual/README.md").write_bytes(b"\xff")


STATES = (edited, in_the_way, huge, linked, without_output, like_a_token, broken_base, no_utf8)


@pytest.mark.deep("a whole run, 1.7 s; its parts have tests of their own")
@pytest.mark.rows(2, "each state with either verb: four runs over five clusters")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
@pytest.mark.parametrize("line", [("check", *TODAY), ("generate", "--check")], ids=lambda line: line[0])
def test_shards_say_what_one_run_says(project, shards, merged, run_cli, state, line):
    state(project)
    reports, _ = shards(project, 2, *line)
    whole = run_cli([*line, "--root", project, "--format", "json"])

    assert merged(project, reports, "--format", "json") == whole


@pytest.mark.deep("shards and a whole run")
def test_files_beside_a_stack_are_looked_at_by_the_merge_too(project, shards, merged, run_cli):
    beside = project / "infra"
    beside.mkdir()
    (beside / "queue.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")
    stack = project / "profiles/edge/cluster.yaml"
    stack.write_text(stack.read_text().replace("spec:\n", "spec:\n  beside: [infra]\n", 1))
    generate(project)
    reports, _ = shards(project, 2, "check", *TODAY)
    whole = run_cli(["check", *TODAY, "--root", project, "--format", "json"])

    assert merged(project, reports, "--format", "json") == whole
    (beside / "more.yaml").write_text("apiVersion: v1\n")
    after = merged(project, reports)
    assert (after.code, after.out) == (1, "")
    assert "profiles/edge" in after.err


@pytest.mark.rows(1, "one field of three that are masked alike")
@pytest.mark.parametrize("field", ["owner", "delivery", "values"])
def test_secrets_are_in_no_report_of_a_shard(project, shards, field):
    if field == "owner":
        pool = next((project / "profiles/edge").glob("[!c]*.yaml"))
        pool.write_text(pool.read_text().replace("spec:\n", f"spec:\n  owner: {TOKEN}\n", 1))
    for path in project.glob("profiles/*/cluster.yaml"):
        text = path.read_text()
        if field == "delivery":
            text = re.sub("repoURL: https://", f"repoURL: https://me:{TOKEN}@", text)
        if field == "values":
            text = text.replace("  stack:\n", f"  stack:\n    values: {{toolkit: {{env: [{TOKEN}]}}}}\n", 1)
        path.write_text(text)
    for line in (("check", *TODAY), ("generate", "--check")):
        reports, _ = shards(project, 2, *line)
        for report in reports:
            held = zlib.decompress(b64decode(loads(report.read_text())["shard"]["results"])).decode()
            assert TOKEN not in report.read_text() + held
