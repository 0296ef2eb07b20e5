"""How a report is laid out: what the flags say, and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.report.fleet_facts import FleetFacts

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
class ReportContext:
    """What a format is told beside the findings. `tool` is name and version; `stop_token` is what nobody can guess.

    `below` is where the project stands in its repository: empty, or a path that ends in a slash. `docs` is the address
    of the folder with the documentation, `source` that of the repository's top folder at one revision, as far as
    somebody has said them. `fleet` is there for formats that show it.
    """

    tool: str
    layout: Layout = SHORT
    stop_token: str = ""
    below: str = ""
    docs: str = ""
    source: str = ""
    fleet: FleetFacts | None = None
