"""Public reports, each as a folder: small files of our own with its fault, and a twin that is right.

`report.yaml` of a folder:

| field | what it says |
| --- | --- |
| `report` | where it stands, and when |
| `seen` | what people saw: messages and states, as they would look for them |
| `wrong`, `right` | what went wrong, and what has to be said of it, with the mend: written before the first run |
| `at` | `path:line` of the place to be told |
| `source` | the code, page or maintainer that makes it true |
| `kinds` | which kinds of fault it stands for |
| `first` | what the first run told: `told`, `part` (at another place, or without the mend), or `no` |
| `sought` | how it was found, where it was not found in a tracker without regard to what is told |
| `code` | the rule that tells it today; without one, `silent` says why nothing does |
| `correct` | the files themselves are right: nothing may be refused in them |
| `beside` | other rules that rightly speak of files or twin |
| `project`, `nodes`, `kubernetes` | profiles in place of files of anyone; `--nodes`, `--kubernetes` |

`twin/` has the files that differ in the twin.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from poolsmith.core.diagnostics import Diagnostic, Severity
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_paths, check_project

HERE = Path(__file__).resolve().parent
TODAY = dt.date(2026, 11, 20)
NOT_GENERATED = "output-out-of-date"


@dataclass(frozen=True)
class Report:
    """One folder."""

    folder: Path
    said: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def code(self) -> str | None:
        return self.said.get("code")

    @property
    def beside(self) -> frozenset[str]:
        return frozenset(self.said.get("beside", ()))

    @property
    def has_twin(self) -> bool:
        return (self.folder / "twin").is_dir()

    @property
    def is_right_today(self) -> bool:
        return self.code is not None or bool(self.said.get("correct"))


@cache
def reports() -> tuple[Report, ...]:
    """All of them, by name."""
    return tuple(
        Report(path.parent, yaml.safe_load(path.read_text("utf-8"))) for path in sorted(HERE.glob("*/report.yaml"))
    )


def judged(report: Report, folder: Path, *, twin: bool = False) -> list[Diagnostic]:
    """What `check` says of the files, or of the twin, put below a folder."""
    shutil.copytree(report.folder / "files", folder, dirs_exist_ok=True)
    if twin:
        shutil.copytree(report.folder / "twin", folder, dirs_exist_ok=True)
    return [item for item in _diagnostics(report.said, folder) if item.name != NOT_GENERATED]


def _diagnostics(said: Mapping[str, Any], folder: Path) -> tuple[Diagnostic, ...]:
    if said.get("project"):
        options = JudgingOptions(today=TODAY)
        return check_project(folder, progress=lambda done, total: None, judging=options).diagnostics
    nodes = said.get("nodes")
    return check_paths(
        folder,
        [path for path in sorted(folder.iterdir()) if path.name != nodes],
        nodes=folder / nodes if nodes else None,
        kubernetes=said.get("kubernetes"),
        everything=True,
    ).diagnostics


def line_of(item: Diagnostic) -> str:
    """`path:line`, as `at` is written."""
    return str(item.primary.span).rpartition(":")[0]


def graver_than_notes(found: list[Diagnostic]) -> set[str]:
    return {item.code for item in found if item.severity is not Severity.NOTE}
