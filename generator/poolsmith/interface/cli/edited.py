"""Verbs that edit profiles: the flags that all of them take, and what they print at their end.

That is the change, what is wrong with it, and what was done beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_change, print_outcome
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics.outcome import Outcome

    class Edited(Protocol):
        """`report` is the change that the edits make, `refused` what is wrong with the profiles after them."""

        @property
        def written(self) -> bool: ...

        @property
        def report(self) -> ChangeReport | None: ...

        @property
        def refused(self) -> Outcome | None: ...


@record
class EditFlags:
    """What such a verb was asked, by the names of its flags."""

    root: Path
    jobs: int | None
    fail_on: str
    verbose: bool
    output_format: str
    today: dt.date
    dry_run: bool


def edit_flags(command: Callable[..., int]) -> Callable[..., int]:
    """Everything that such a verb takes; it gets it as one record, `flags`."""
    shown = (options.fail_on, options.verbose, options.change_format)
    return options.with_flags(EditFlags, command, (options.root, options.jobs, *shown, options.today, options.dry_run))


def tell_edited(result: Edited, flags: EditFlags, *, edits: Sequence[str], lines: Sequence[str]) -> Exit:
    """The report on stdout; `lines`, or `edits` where they are refused, beside it."""
    root, output_format = flags.root, flags.output_format
    layout = options.layout(verbose=flags.verbose, fail_on=flags.fail_on)
    if result.written:
        layout = replace(layout, rest="poolsmith diff -v --base HEAD")  # the same command would find nothing to do
    if result.report is not None:
        print_change(result.report, output_format=output_format, layout=layout, root=root)
    if result.refused is not None:
        form = "json" if output_format == "json" else "text"
        print_outcome(result.refused, output_format=form, color=None, layout=layout, root=root)
        state = "the profiles are edited, and the output is not generated" if result.written else "nothing was changed"
        tell([f"{state}: with this the profiles have errors", *edits])
        return Exit.FINDINGS
    if output_format == "text":
        write("".join(f"{line}\n" for line in lines))
    else:
        tell(lines)
    fails = result.report is not None and result.report.fails(Severity(flags.fail_on))
    return Exit.FINDINGS if fails else Exit.CLEAN
