"""Workflow commands for GitHub annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted, cut, printable
from poolsmith.interface.report.text import format_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import ReportContext

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_SHOWN_PER_COMMAND = 10  # GitHub shows ten of each per step
_SHOWN = 25  # and fifty of a job, in which there may be another run of ours
_LONGEST = 4_000


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """Annotations, worst first, then the text report. What the text folds is no annotation either.

    User text in the report could start a workflow command, so commands are stopped around it.
    """
    return _report(outcome.open, format_text(outcome, context.layout), context)


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """The findings that the change brings as annotations, then the text report."""
    from poolsmith.interface.report import diff_text  # on demand

    found = [item for item in change.new_findings if not item.is_waived]
    return _report(found, diff_text.diff_report(change, context), context)


def _report(found: Iterable[Diagnostic], text: str, context: ReportContext) -> str:
    unfolded = [item for item in found if not context.layout.folds(item)]
    shown: list[Diagnostic] = []
    for severity in Severity:
        of_severity = [item for item in unfolded if item.severity is severity]
        shown += of_severity[: min(_SHOWN_PER_COMMAND, _SHOWN - len(shown))]
    if rest := len(unfolded) - len(shown):
        text += f"{counted(rest, 'more finding')}: GitHub shows no more annotations of one run\n"
    commands = "".join(_command(item, context.below) for item in shown)
    text = text.replace(context.stop_token, "…") if context.stop_token else text
    return f"{commands}::stop-commands::{context.stop_token}\n{text}::{context.stop_token}::\n"


def _command(item: Diagnostic, below: str) -> str:
    span = item.primary.span
    path = span.path if span.path.startswith("/") else f"{below}{span.path}"
    properties = [("file", printable(path))]
    if span.start is not None:
        properties += [("line", str(span.start.line)), ("col", str(span.start.column))]
        if span.end is not None and span.end.line == span.start.line:
            properties += [("endLine", str(span.end.line)), ("endColumn", str(span.end.column))]
    properties.append(("title", f"{item.code} {item.name}"))
    message = printable(item.message)
    if item.help is not None:
        message += "\nhelp: " + "\n".join(printable(line) for line in item.help.split("\n"))
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{_COMMAND[item.severity]} {shown}::{_data(cut(message, _LONGEST))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
