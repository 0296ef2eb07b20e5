"""The page on sharing: its example comes to what it says. test_examples_of_pages.py runs its commands."""

from __future__ import annotations

import re
from pathlib import Path

from poolsmith.core.sources.yaml_reader import read_documents

PAGE = (Path(__file__).parents[2] / "docs/sharing.md").read_text("utf-8")
FILES = {found[1]: found[2] for found in re.finditer(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)}


def test_the_example_shares_both_sizes_and_has_its_layout(write_files, run_cli):
    root = write_files(FILES)
    run_cli(["generate", "--root", root])
    platform = root / "output/clusters/lab/platform"
    (config,) = read_documents((platform / "device-plugin-config.yaml").read_text())
    (layouts,) = read_documents((platform / "mig-layouts.yaml").read_text())

    assert "nvidia.com/mig-2g.20gb" in config["data"]["notebooks"]
    assert "notebooks:" in layouts["data"]["config.yaml"]
    for item in (config, layouts):
        assert re.search(r"-[0-9a-f]{8}\Z", item["metadata"]["name"])
