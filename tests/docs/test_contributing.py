"""CONTRIBUTING.md: its map is the order of the packages, and every path in it exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PACKAGE = ROOT / "generator/poolsmith"
ROWS = re.findall(r"^\| `(\w+)(?:/|\.py)` \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_the_map_is_the_order_of_the_packages():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (order,) = (contract["layers"] for contract in contracts if contract["id"] == "order")

    assert [name for name, *_ in ROWS] == order[::-1]


def test_each_package_starts_where_the_map_says():
    missing = [
        f"{package}/{start}"
        for package, _, starts in ROWS
        for start in re.findall(r"`([^`]+)`", starts)
        if not ((PACKAGE / package / start).exists() or (start == f"{package}.py" and (PACKAGE / start).exists()))
    ]

    assert missing == []


def test_each_path_exists():
    paths = re.findall(r"`((?:generator|tests|docs)/[^`]*)`", PAGE)

    assert [path for path in paths if not (ROOT / path).exists()] == []
