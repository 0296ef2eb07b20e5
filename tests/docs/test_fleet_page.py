"""The workflow of docs/fleet.md, taken literally: its shards, and the job that puts them together."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from support.git_repository import commit_all

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/fleet.md").read_text("utf-8")
KEPT = ("edge", "edge-talos", "lab-t4")


@pytest.fixture
def fleet(tmp_path):
    """A checkout with a base commit, and a change that widens nothing."""
    root = tmp_path / "fleet"
    for name in (
        "profiles/_bases",
        "policies",
        *(f"{part}/{name}" for part in ("profiles", "output/clusters") for name in KEPT),
    ):
        shutil.copytree(ROOT / name, root / name)
    commit_all(root)
    return root


@pytest.mark.deep("the page's shards over the sample fleet; tests/interface/app/shards has the same of a small one")
def test_its_shards_and_its_merge_run(fleet, run_cli, monkeypatch):
    (text,) = re.findall(r"```yaml\n# \.github/workflows/fleet\.yaml.*?\n(.*?)```", PAGE, re.DOTALL)
    jobs = yaml.safe_load(text)["jobs"]
    numbers = jobs["shard"]["strategy"]["matrix"]["number"]
    steps = {job: [step["run"] for step in jobs[job]["steps"] if "run" in step] for job in jobs}
    gathered = fleet.parent / "shards"
    gathered.mkdir()
    monkeypatch.chdir(fleet)
    for number in numbers:
        line = steps["shard"][0].replace("$SHARD", str(number)).replace("$BASE", "HEAD")
        found = run_cli(shlex.split(line)[1:], cwd=fleet)
        assert found.code in (0, 1), found.err
        shutil.move(fleet / f"shard-{number}.json", gathered)
    command, verb, part, pattern = shlex.split(steps["fleet"][0])
    files = sorted(gathered.glob(pattern.rpartition("/")[2]))
    merged = run_cli([verb, part, *files, "--format", "json"], cwd=fleet)
    whole = run_cli(["check", "--policies-from", "HEAD", "--format", "json"], cwd=fleet)

    assert (command, verb, part) == ("poolsmith", "report", "merge")
    assert merged == whole
    assert len(files) == len(numbers)
    files[3].unlink()
    lacking = run_cli([verb, part, *files[:3], *files[4:]], cwd=fleet)
    assert (lacking.code, "`4` are not among the files" in lacking.err) == (1, True)
