"""The chart with random valid values, and with those of the sample, by the real helm: our prediction in every field.

POOLSMITH_CHARTS names a folder with the charts, `<tag>/gpu-operator`; without it, nothing is proved here but what is
recorded (`tests/fleet/operands/test_value_sets.py`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from control_plane.delivered import release_of
from poolsmith.core.sources.yaml_reader import read_documents
from support.circles import DEEP
from support.value_sets import RELEASES, for_release, served, value_set
from support.whole_charts import NAMESPACE, by_key, differences, predicted

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = sorted(ROOT.glob("output/clusters/*/platform/values/gpu-operator.yaml"))
FIRST, SETS = 1000, 2
"""Other sets than the recorded ones; in a deep run, and with VALUE_SETS=<how many>, more of them."""


@pytest.fixture
def helm(checkouts, tmp_path):
    """Objects of a chart, stamped with its release as the published one is; a schema that refuses values stops it."""
    charts = checkouts("POOLSMITH_CHARTS")

    def render(release, values, apis):
        folder = tmp_path / release
        if not folder.exists():
            shutil.copytree(charts / release / "gpu-operator", folder)
            text = (folder / "Chart.yaml").read_text("utf-8")
            stamped = re.sub(r"^(version|appVersion):.*$", rf"\1: {release}", text, flags=re.MULTILINE)
            (folder / "Chart.yaml").write_text(stamped, "utf-8")
        (tmp_path / "values.json").write_text(json.dumps(values), "utf-8")
        command = ["helm", "template", "gpu-operator", str(folder), "--namespace", NAMESPACE]
        command += ["--values", str(tmp_path / "values.json"), *(f"--api-versions={api}" for api in apis)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 0, run.stderr
        return by_key(item for item in read_documents(run.stdout) if item)

    return render


@pytest.mark.real("Helm renders each release many times")
@pytest.mark.tool("helm")
@pytest.mark.parametrize("release", RELEASES)
def test_random_values_give_the_objects_that_helm_renders(helm, release):
    for seed in range(FIRST, FIRST + int(os.environ.get("VALUE_SETS", "30" if DEEP else SETS))):
        apis = served(seed)
        values = for_release(value_set(seed), release, apis)
        assert list(differences(helm(release, values, apis), predicted(release, values, apis))) == [], seed


@pytest.mark.tool("helm")
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parts[-4])
def test_the_committed_values_of_the_sample_give_the_objects_that_helm_renders(helm, path):
    release = release_of(path.parents[2])
    values = read_documents(path.read_text("utf-8"))[0]

    assert list(differences(helm(release, values, ()), predicted(release, values, ()))) == []
