"""A small fleet for shards, and the reports of each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolsmith.interface.app.generate import generate

_ROOT = Path(__file__).resolve().parents[4]
_KEPT = ("edge", "edge-talos", "lab-t4", "manual", "prod-rke2")


@pytest.fixture(scope="session")
def small_fleet(tmp_path_factory):
    """Five clusters of the sample fleet, of both delivery engines, without admission policies: these take longest."""
    root = tmp_path_factory.mktemp("small") / "project"
    for folder in ("profiles", "policies"):
        shutil.copytree(_ROOT / folder, root / folder)
    for folder in (root / "profiles").glob("[!_]*"):
        if folder.name not in _KEPT:
            shutil.rmtree(folder)
    shutil.rmtree(root / "policies/admission")
    generate(root)
    return root


@pytest.fixture(scope="session")
def judged_fleet(small_fleet):
    """The report of a check in one shard; it knows files by their content."""
    line = ["check", "--root", small_fleet, "--today", "2026-11-20", "--shard", "1/1", "--format", "json"]
    command = [sys.executable, "-m", "poolsmith", *map(str, line)]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT / "generator"), "GITHUB_ACTIONS": ""}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def project(small_fleet, tmp_path):
    return shutil.copytree(small_fleet, tmp_path / "project")


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


@pytest.fixture
def merged(run_cli):
    """What `report merge` ends with."""
    return lambda root, reports, *line: run_cli(["report", "merge", "--root", root, *reports, *line])
