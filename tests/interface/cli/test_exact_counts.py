"""What a run takes grows by a tenth only with a line that says why: modules, code, calls, files, exact on each machine.

`COUNTED_BECAUSE="why" python -m pytest tests/interface/cli/test_exact_counts.py` writes that line; `make docs` the page.
"""

from __future__ import annotations

import compileall
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.fleet import write_fleet
from poolsmith import __version__
from support.exact_counts import GENERATOR, Counts, exact_counts, grown

HISTORY = Path(__file__).parents[2] / "bench/counts.json"
VALUES = "output/clusters/cluster-00000/platform/values/gpu-operator.yaml"
RUNS = {
    "--version": "--version",
    "lint of a file without a word about GPUs": "check --hook web.yaml",
    "lint of one values file": f"check --hook {VALUES}",
    "8 pools: generate": "generate --no-cache",
    "8 pools: generate --check": "generate --check --no-cache",
    "8 pools: check": "check --no-cache",
    "8 pools: ledger": "ledger",
}
MOST = 1.1
MEASURED_ON = (3, 11)
"""Other interpreters call otherwise: from 3.12 on a comprehension is no function."""


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    compileall.compile_dir(GENERATOR / "poolsmith", quiet=2)
    write_fleet(folder, 8)
    (folder / "web.yaml").write_text("kind: Service\n")
    exact_counts(["generate", "--no-cache", "--jobs", "1"], folder)
    return {name: exact_counts(line.split(), folder, ends=(0, 1)) for name, line in RUNS.items()}


def history():
    return json.loads(HISTORY.read_text("utf-8"))


def test_each_line_says_why():
    assert all(len(entry["why"]) > 20 for entry in history())


@pytest.mark.skipif(sys.version_info[:2] != MEASURED_ON, reason="counts are those of Python 3.11")
@pytest.mark.rows(2, "each run is a process")
def test_a_run_takes_a_tenth_more_only_with_a_reason(counted):
    why = os.environ.get("COUNTED_BECAUSE")
    if why and not os.environ.get("TESTS_RUN_IN_CI"):
        runs = {name: asdict(found) for name, found in counted.items()}
        entries = [*history(), {"release": __version__, "why": why, "runs": runs}]
        HISTORY.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")
    kept = history()[-1]["runs"]
    found = {name: grown(now, Counts(**kept[name]), MOST) for name, now in counted.items()}

    assert {name: more for name, more in found.items() if more} == {}, "COUNTED_BECAUSE=... writes a line that says why"


def test_a_growth_is_noticed():
    kept = Counts(modules=100, kilobytes=100, calls=1_000, files=10)

    assert grown(kept, kept, MOST) == []
    assert grown(Counts(modules=111, kilobytes=105, calls=1_101, files=15), kept, MOST) == [
        "modules: 100 to 111",
        "calls: 1,000 to 1,101",
    ]
