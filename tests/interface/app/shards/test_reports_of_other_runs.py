"""Reports that are none of this run: each is refused, in one line, and nothing is reported or written."""

from __future__ import annotations

import shutil

import pytest

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.app.shard_merge import merge
from poolsmith.interface.app.shard_part import ShardError

TODAY = ("--today", "2026-11-20")


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


@pytest.mark.deep("shards are run twice")
def test_shards_of_different_runs_are_told_apart(project, shards):
    compared, _ = shards(project, 2, "generate", "--check")
    judged, _ = shards(project, 2, "check", *TODAY)
    strict, _ = shards(project, 2, "check", *TODAY, "--strict")
    of_three, _ = shards(project, 3, "check", *TODAY)

    refused(project, [compared[0], judged[1]], "work is `check`, and not `generate --check`")
    refused(project, [judged[0], strict[1]], "strict is `True`, and not `False`")
    refused(project, [judged[0], of_three[1]], "one of 3 shards, and one of 2")
    refused(project, judged, "--write is for shards of `generate`", UsageError, writes=True)


@pytest.mark.deep("shards are run twice")
def test_a_run_that_begins_before_midnight_may_end_after_it(project, run_cli, tmp_path):
    reports = []
    for number, day in ((1, "2026-11-20"), (2, "2026-11-21")):
        line = ["check", "--root", project, "--shard", f"{number}/2", "--today", day, "--format", "json"]
        reports.append(tmp_path / f"{number}.json")
        reports[-1].write_text(run_cli(line).out)
    whole = run_cli(["check", "--root", project, "--today", "2026-11-21", "--format", "json"])

    assert run_cli(["report", "merge", "--root", project, *reports, "--format", "json"]) == whole


@pytest.mark.rows(2, "shards are run for each")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("profiles/prod-rke2/cluster.yaml", "profiles/prod-rke2, output/clusters/prod-rke2 or"),
        (
            "output/clusters/prod-rke2/README.md",
            "profiles/prod-rke2, output/clusters/prod-rke2 or",
        ),
        ("policies/waivers.yaml", "of other files, or of another poolsmith"),
        ("profiles/_bases/new.yaml", "of other files, or of another poolsmith"),
        ("profiles/new/cluster.yaml", "of other files, or of another poolsmith"),
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
