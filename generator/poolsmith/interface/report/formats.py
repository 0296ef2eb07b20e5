"""Every format of a report: its name, the ending of its files, and the modules that make it. Loaded on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.layout import ReportContext

CHECK, DIFF = "check", "diff"
"""What reports are of: a check, which any verb with findings makes, and a diff."""


@record(kw_only=False)
class Format:
    """`check` and `diff` are modules of this package, empty where there is none.

    The one has `check_report(outcome, context)`, the other `diff_report(change, context)`; both give the whole text.
    `has_commands`: it speaks to a build server. `shows_fleet`: it tells of all pools and privileges too.
    """

    ending: str
    check: str = ""
    diff: str = ""
    has_commands: bool = False
    shows_fleet: bool = False


FORMATS = {
    "text": Format(".txt", check="text", diff="diff_text"),
    "json": Format(".json", check="json_v1", diff="diff_json"),
    "github": Format("", check="github", diff="github", has_commands=True),
    "markdown": Format(".md", check="check_markdown", diff="diff_markdown"),
    "sarif": Format(".sarif", check="sarif", diff="sarif"),
    "junit": Format(".xml", check="junit", diff="junit"),
    "html": Format(".html", check="html", diff="html", shows_fleet=True),
}
"""By the name that `--format` takes; one without an ending is for standard output only."""


def names_for(kind: str) -> tuple[str, ...]:
    """The formats in which there is a report of this kind."""
    return tuple(name for name, item in FORMATS.items() if _module(item, kind))


def format_check(name: str, outcome: Outcome, context: ReportContext) -> str:
    text: str = _load(FORMATS[name].check).check_report(outcome, context)
    return text


def format_diff(name: str, change: ChangeReport, context: ReportContext) -> str:
    text: str = _load(FORMATS[name].diff).diff_report(change, context)
    return text


def _module(item: Format, kind: str) -> str:
    return item.check if kind == CHECK else item.diff


def _load(module: str) -> Any:
    from importlib import import_module  # on demand

    return import_module(f"poolsmith.interface.report.{module}")
