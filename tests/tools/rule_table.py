"""Makes `data/rules.json`, what runs need to know of the rules, from their pages in `data/rules/`.

Usage, at the root of a checkout: python tests/tools/rule_table.py
"""

from __future__ import annotations

import json
from pathlib import Path

import yaml

DATA = Path(__file__).parents[2] / "generator/poolsmith/data"
TABLE = DATA / "rules.json"
FIELDS = ("name", "severity", "parameters", "fix", "to_do", "at_key", "follows")


def rule_table() -> str:
    """One line for each rule, by its code."""
    rows = [
        {"code": code, **{field: entry[field] for field in FIELDS if field in entry}}
        for path in sorted(DATA.glob("rules/*.yaml"))
        for code, entry in yaml.safe_load(path.read_text("utf-8")).items()
    ]
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"


if __name__ == "__main__":
    TABLE.write_text(rule_table(), "utf-8")
