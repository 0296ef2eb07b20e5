"""What verbs that edit profiles print at their end: the change, what is wrong with it, and what was done beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_change, print_outcome
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence
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


def tell_edited(
    result: Edited,
    root: Path,
    *,
    edits: Sequence[str],
    lines: Sequence[str],
    output_format: str,
    verbose: bool,
    fail_on: str,
) -> Exit:
    """The report on stdout; `lines`, or `edits` where they are refused, beside it."""
    layout = options.layout(verbose=verbose, fail_on=fail_on)
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
    found = result.report.new_findings if result.report is not None else ()
    fails = any(item.severity.rank <= Severity(fail_on).rank for item in found if not item.is_waived)
    return Exit.FINDINGS if fails else Exit.CLEAN
