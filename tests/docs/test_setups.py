"""docs/setups.md: what it shows is what is printed, and its table has every rule over drivers."""

from __future__ import annotations

import re
from pathlib import Path

from poolsmith.guard.rules.setup.registry import SETUP_RULES

PAGE = (Path(__file__).parents[2] / "docs/setups.md").read_text("utf-8")
CONSOLE = re.compile(r"```console\n\$ poolsmith (?P<words>check [^\n]+)\n(?P<shown>.*?)```", re.DOTALL)
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {{name: {name}}}
spec:
  repository: nvcr.io/nvidia
  image: driver
  version: 580.126.20
  nodeSelector: {{{selector}}}
"""
NODES = "- name: gpu-7\n  labels: {nvidia.com/gpu.present: 'true', pool: a, zone: b}\n"


def test_what_it_shows_is_printed(write_files, run_cli):
    drivers = DRIVER.format(name="a", selector="pool: a") + "---\n" + DRIVER.format(name="b", selector="zone: b")
    root = write_files({"gpu/drivers.yaml": drivers, "nodes.yaml": NODES})
    (example,) = CONSOLE.finditer(PAGE)

    assert run_cli(example["words"].split(), cwd=root).out.startswith(example["shown"])


def test_each_rule_over_drivers_stands_in_the_table():
    rows = re.findall(r"^\| `(PSM26\d)` \|", PAGE, re.MULTILINE)

    assert rows == sorted(rule.RULE.code for rule in SETUP_RULES if rule.RULE.code.startswith("PSM26"))
