"""`nodes.rollMinutes` of a pool: how long its drivers take to be replaced, in the words of JSON and of the page."""

from __future__ import annotations

import json

import pytest

from support.git_repository import commit_all


@pytest.mark.parametrize(("minutes", "told"), [("", None), ("    rollMinutes: 12\n", 12)])
def test_waves_take_the_minutes_that_the_profile_says(run_cli, sample_project, minutes, told):
    path = sample_project / "profiles/edge/l4.yaml"
    text = path.read_text()
    assert "  nodes:\n" in text
    path.write_text(text.replace("  nodes:\n", f"  nodes:\n{minutes}"))
    commit_all(sample_project)
    path.write_text(path.read_text().replace("595.91.07", "580.126.20"))
    report = json.loads(run_cli(["diff", "--base", "HEAD", "--root", sample_project, "--format", "json"]).out)
    (waves,) = [item["waves"] for one in report["clusters"] for item in one["disruptions"] if item["kind"] == "driver"]

    assert waves["waves"] > 1
    assert waves["minutes"] == (None if told is None else told * waves["waves"])
    assert waves["limit"] == "maxParallelUpgrades 1"
    page = run_cli(["diff", "--base", "HEAD", "--root", sample_project, "--format", "html"]).out
    assert ("about " in page.partition('id="roll-out"')[2].partition("</section>")[0]) is (told is not None)
