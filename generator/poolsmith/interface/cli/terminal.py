"""Printing: plain into pipes, coloured and with a progress bar on a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import harmless, printable
from poolsmith.interface.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import Layout

_BAR_FROM = 40
_NARROWEST = 40
"""Columns of a terminal below which it breaks lines itself."""


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal that a stream leads to; None where it leads to none, or that does not say."""
    if not stream.isatty():
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return columns if columns >= _NARROWEST else None


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
    from poolsmith.interface.report.text import format_text

    tell_text(format_text(outcome, replace(layout, width=width_of(sys.stderr))))


def _sayable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


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
