"""The page on the stack without the operator: its example comes to what it says. test_examples_of_pages.py runs it."""

from __future__ import annotations

import re
from pathlib import Path

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog.chart_workloads import chart_releases

PAGE = (Path(__file__).parents[2] / "docs/hand-installed.md").read_text("utf-8")
FILES = {found[1]: found[2] for found in re.finditer(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)}


def test_the_example_has_what_the_page_says_of_it(write_files, run_cli):
    root = write_files(FILES)
    run_cli(["generate", "--root", root])
    output = root / "output/clusters/lab"
    (labels,) = read_documents((output / "expected/node-labels/notebooks.yaml").read_text())
    (config,) = read_documents((output / "platform/device-plugin-config.yaml").read_text())

    assert sorted(unit.name for unit in (output / "units").iterdir()) == [
        *("dcgm-exporter", "device-plugin", "node-feature-discovery")
    ]
    assert labels["provisioner"]["labels"]["nvidia.com/device-plugin.config"] == "notebooks"
    assert sorted(config["data"]) == ["default", "notebooks"]
    assert "nvidia-mig-parted" in (output / "README.md").read_text()


def test_the_page_names_the_first_and_the_last_release():
    known = chart_releases("nvidia-device-plugin")

    assert f"from {known[0]} to {known[-1]}" in PAGE
