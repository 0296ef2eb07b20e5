"""The report formats: name, file ending and modules of each, loaded on demand; and the layout that flags and terminal
ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith import TOOL
from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.fleet_facts import FleetFacts


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
    "prometheus": Format(".prom", check="prometheus"),
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


RULE, CLUSTER, FILE = "rule", "cluster", "file"
GROUPS = (RULE, CLUSTER, FILE)
"""What findings are grouped by in the text report."""


@record
class Layout:
    """`verbose`: nothing is folded or bounded. `fail_on`: what is as severe decides the exit code, and is never folded.

    `width` are the columns of a terminal; None for a pipe, whose lines have any length. `rest` is the command that
    shows what is folded.
    """

    group_by: str = RULE
    verbose: bool = False
    fail_on: Severity = Severity.ERROR
    width: int | None = None
    rest: str = ""

    def folds(self, item: Diagnostic) -> bool:
        return not self.verbose and item.severity is Severity.NOTE and self.fail_on is not Severity.NOTE


SHORT = Layout()
FULL = Layout(verbose=True)


@record
class ReportStyle:
    """How a report is told: None is what suits the terminal or the build server."""

    output_format: str | None
    color: bool | None
    layout: Layout


@record
class ReportContext:
    """What a format is told beside the findings. `tool` is name and version; `stop_token` is what nobody can guess.

    `below` is where the project stands in its repository: empty, or a path that ends in a slash. `docs` is the address
    of the folder with the documentation, `source` that of the repository's top folder at one revision, as far as
    somebody has said them. `fleet` is there for formats that show it.
    """

    tool: str = TOOL
    layout: Layout = SHORT
    stop_token: str = ""
    below: str = ""
    docs: str = ""
    source: str = ""
    fleet: FleetFacts | None = None
