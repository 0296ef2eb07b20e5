"""Printing: plain into pipes, coloured and with a progress bar on a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from poolsmith.cli.exit_codes import Exit
from poolsmith.diagnostics import Severity
from poolsmith.diagnostics.masking import masked
from poolsmith.diagnostics.printable import harmless, printable
from poolsmith.report.formats import FORMATS, format_check, format_diff
from poolsmith.report.layout import FULL, Layout, ReportContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from poolsmith.app.report_files import ReportFile
    from poolsmith.changes.change_report import ChangeReport
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.diagnostics.outcome import Outcome


class TextOf(Protocol):
    """Makes the text of the format of a name."""

    def __call__(self, name: str, *, context: ReportContext) -> str: ...


_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "place": "bold",
    "code": "magenta",
    "faint": "dim",
    "good": "green",
}
_BAR_FROM = 40
_NARROWEST = 40
"""Columns of a terminal below which it breaks lines itself."""


def print_outcome(
    outcome: Outcome, *, output_format: str | None, color: bool | None, tool: str, layout: Layout = FULL
) -> None:
    """Write the report to standard output, and nothing else."""
    chosen = chosen_format(output_format)
    layout = replace(layout, width=_width(sys.stdout))
    if chosen == "text" and color is not False and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        _print_styled(outcome, layout)
        return
    context = report_context(chosen, tool=tool, layout=layout)
    write(format_check(chosen, outcome=outcome, context=context), with_commands=FORMATS[chosen].has_commands)


def write_report_files(root: Path, files: Sequence[ReportFile], text_of: TextOf, *, tool: str, layout: Layout) -> None:
    """The reports that --output asks for; `text_of` takes the name of a format. Lines have any length in a file."""
    if not files:
        return
    from poolsmith.app.report_files import write_reports

    wide = replace(layout, width=None)
    write_reports(root, files, lambda name: text_of(name, context=report_context(name, tool=tool, layout=wide)))


def chosen_format(asked: str | None) -> str:
    """The format for standard output."""
    return asked or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")


def report_context(chosen: str, *, tool: str, layout: Layout) -> ReportContext:
    """What the format is told; one that speaks to a build server gets a word that no file can hold."""
    if not FORMATS[chosen].has_commands:
        return ReportContext(tool=tool, layout=layout)
    import secrets

    return ReportContext(tool=tool, layout=layout, stop_token=secrets.token_hex(16))


def _width(stream: TextIO) -> int | None:
    """Columns of the terminal that a stream leads to; None where it leads to none, or that does not say."""
    if not stream.isatty():
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return columns if columns >= _NARROWEST else None


def print_change(change: ChangeReport, *, output_format: str | None, tool: str, layout: Layout) -> None:
    """The report of a diff, in the same way."""
    chosen = chosen_format(output_format)
    context = report_context(chosen, tool=tool, layout=replace(layout, width=_width(sys.stdout)))
    write(format_diff(chosen, change=change, context=context), with_commands=FORMATS[chosen].has_commands)


def print_problems(diagnostics: tuple[Diagnostic, ...], *, output_format: str, tool: str) -> None:
    """Why a verb has no answer: as JSON where it was asked for, else as text."""
    from poolsmith.diagnostics.outcome import Outcome

    form = "json" if output_format == "json" else "text"
    print_outcome(Outcome(diagnostics=diagnostics), output_format=form, color=None, tool=tool)


def exit_code(outcome: Outcome, fail_on: str) -> Exit:
    return Exit.FINDINGS if outcome.fails(Severity(fail_on)) else Exit.CLEAN


def write(text: str, *, with_commands: bool = False) -> None:
    """Text to standard output. What could steer a terminal or a build server, and what the encoding can't say, is
    escaped; `with_commands` is for a report that speaks to a build server."""
    sys.stdout.write(_sayable(harmless(text, with_commands=with_commands), sys.stdout))
    sys.stdout.flush()


def tell(lines: Iterable[str]) -> None:
    """Lines to standard error, of a verb whose standard output holds objects and nothing else."""
    tell_text("".join(f"poolsmith: {printable(masked(line))}\n" for line in lines))


def tell_text(text: str) -> None:
    """Text to standard error, in the same way."""
    sys.stderr.write(_sayable(harmless(text), sys.stderr))


def tell_outcome(outcome: Outcome, layout: Layout) -> None:
    """The text report to standard error."""
    from poolsmith.report.text import format_text

    tell_text(format_text(outcome, replace(layout, width=_width(sys.stderr))))


def _sayable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _print_styled(outcome: Outcome, layout: Layout) -> None:
    from rich.console import Console
    from rich.text import Text

    from poolsmith.report.text import styled

    text = Text()
    for piece, style in styled(outcome, layout):
        text.append(harmless(piece, with_commands=True), style=_STYLES.get(style))
    Console(highlight=False, soft_wrap=True).print(text, end="")


@contextmanager
def progress_bar(label: str, *, enabled: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A callback for (done, total). Shows a bar on a terminal when there is enough to do."""
    if not enabled or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    task = bar.add_task(label, total=None)

    def advance(done: int, total: int) -> None:
        if total < _BAR_FROM:
            return
        if done == 0:
            bar.start()
        bar.update(task, completed=done, total=total)
        bar.refresh()

    try:
        yield advance
    finally:
        bar.stop()
