"""`python -m field.today`: what the reports' folders say of today, after a rule has come or gone.

Prints each report of which something else is told now, and with `--write` writes it: `code` where one rule alone tells
the fault at its line, and `beside`. What is no longer told is for people: the rule may be wrong, or its place.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from field.corpus import Report, graver_than_notes, judged, line_of, reports

ORDER = (
    "report",
    "seen",
    "wrong",
    "right",
    "at",
    "source",
    "kinds",
    "project",
    "nodes",
    "kubernetes",
    "first",
    "sought",
    "code",
    "silent",
    "correct",
    "beside",
)
WIDTH = 110


def found_today(report: Report) -> tuple[set[str], set[str]]:
    """Rules that speak at the fault's line, and those of files or twin that say more than a note."""
    there: set[str] = set()
    graver: set[str] = set()
    for twin in (False, True) if report.has_twin else (False,):
        with tempfile.TemporaryDirectory() as folder:
            found = judged(report, Path(folder), twin=twin)
        graver |= graver_than_notes(found)
        there |= set() if twin else {item.code for item in found if line_of(item) == report.said.get("at")}
    return there, graver


def changed(report: Report) -> dict[str, Any]:
    """What the folder has to say instead; empty where nothing changes."""
    there, graver = found_today(report)
    said = dict(report.said)
    told = there - report.beside
    if not report.is_right_today and len(told) == 1:
        said["code"] = told.pop()
        said.pop("silent", None)
    said["beside"] = sorted(graver - {said.get("code")})
    if not said["beside"]:
        del said["beside"]
    return said if said != report.said else {}


def main(arguments: list[str]) -> None:
    for report in reports():
        said = changed(report)
        if said:
            print(f"{report.name}: code {said.get('code')}, beside {said.get('beside', [])}")
        if said and "--write" in arguments:
            ordered = {key: said[key] for key in ORDER if key in said}
            text = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=WIDTH)
            (report.folder / "report.yaml").write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
