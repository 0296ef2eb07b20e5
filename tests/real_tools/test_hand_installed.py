"""What the charts of a stack without the operator install is what the real helm makes of them.

POOLSMITH_STACK_CHARTS names a folder with the charts, `<chart>-<version>`; without it, nothing is proved here.
"""

from __future__ import annotations

import subprocess

import pytest
import yaml

from support.chart_objects import delta
from support.hand_installed import CASES, RELEASES, charts_of, ours, theirs


@pytest.mark.tool("helm")
@pytest.mark.parametrize("release", (RELEASES[0], "v0.17.1", RELEASES[-1]))
@pytest.mark.parametrize("case", CASES)
def test_the_objects_are_those_of_the_real_helm(checkouts, tmp_path, release, case):
    folder = checkouts("POOLSMITH_STACK_CHARTS")
    for chart, version, namespace, values in charts_of(tmp_path, release, case):
        file = tmp_path / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        command = ["helm", "template", chart, str(folder / f"{chart}-{version}"), "-n", namespace, "-f", str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        objects = [item for item in yaml.safe_load_all(run.stdout) if item]

        assert delta(theirs(objects, namespace), ours(chart, version, namespace, values)) == []
