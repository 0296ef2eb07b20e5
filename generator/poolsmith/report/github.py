"""Workflow commands for GitHub annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import Severity
from poolsmith.diagnostics.printable import printable
from poolsmith.report.text import format_text

if TYPE_CHECKING:
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.diagnostics.outcome import Outcome
    from poolsmith.report.layout import ReportContext

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_SHOWN_PER_COMMAND = 10  # GitHub shows ten of each per step


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """Annotations, worst first, then the text report. What asks for nothing is no annotation.

    User text in the report could start a workflow command, so commands are stopped around it.
    """
    lines: list[str] = []
    for severity in Severity:
        found = [item for item in outcome.open if item.severity is severity and not item.asks_nothing]
        lines.extend(_command(item) for item in found[:_SHOWN_PER_COMMAND])
    report = format_text(outcome, context.layout)
    return "".join(lines) + f"::stop-commands::{context.stop_token}\n{report}::{context.stop_token}::\n"


def _command(item: Diagnostic) -> str:
    span = item.primary.span
    properties = [("file", printable(span.path))]
    if span.start is not None:
        properties += [("line", str(span.start.line)), ("col", str(span.start.column))]
        if span.end is not None and span.end.line == span.start.line:
            properties += [("endLine", str(span.end.line)), ("endColumn", str(span.end.column))]
    properties.append(("title", f"{item.code} {item.name}"))
    message = printable(item.message)
    if item.help is not None:
        message += "\nhelp: " + "\n".join(printable(line) for line in item.help.split("\n"))
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{_COMMAND[item.severity]} {shown}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
