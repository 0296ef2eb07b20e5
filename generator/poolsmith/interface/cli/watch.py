"""poolsmith watch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.diagnostics.message_text import joined, printable_line
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_outcome
from poolsmith.interface.cli.terminal import exit_code, tell, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LEAST = 0.1
"""Seconds between two looks at the files; and at least ten times as long as a look takes."""
_FEW = 3


@click.command("watch")
@options.root
@options.jobs
@options.color
@options.verbose
@options.group_by
@options.fail_on
@click.option("--runs", type=click.IntRange(1), metavar="N", help="End after so many reports, as `check` would.")
def command(
    root: Path, jobs: int | None, color: bool | None, group_by: str, fail_on: str, runs: int | None, *, verbose: bool
) -> int:
    """Check the project again each time that a file is saved, and print what is found.

    The project stays loaded: of a fleet, what a save does not change is not worked on again. Nothing is written; end it
    with Ctrl-C.
    """
    options.only_at_a_desk("poolsmith watch")
    from poolsmith.interface.app.editor.kept_project import KeptProject, ReplacedError

    kept, code = KeptProject(root, jobs=jobs or 1), 0
    layout = options.layout(verbose=verbose, group_by=group_by, fail_on=fail_on)
    for number, paths in enumerate(_saves(root), 1):
        if paths:
            write(f"\n{printable_line(joined(paths, _FEW))}:\n")
        try:
            outcome = kept.judge()
        except ReplacedError:
            raise
        except PoolsmithError as error:  # a branch without profiles, for a while
            if number in (1, runs):
                raise
            tell([str(error)])
            continue
        print_outcome(outcome, output_format="text", color=color, layout=layout, root=root)
        code = exit_code(outcome, fail_on)
        if number == runs:
            break
    return code


def _saves(root: Path) -> Iterator[list[str]]:
    """None at first, then the paths of what differs, once it has stayed the same between two looks."""
    from poolsmith.interface.app.editor.kept_project import differing, state_of

    told = seen = state_of(root)
    yield []
    while True:
        started = time.monotonic()
        try:
            now = state_of(root)
        except FileNotFoundError:  # a file that went while its folder was looked at
            time.sleep(_LEAST)
            continue
        if now == seen and now != told:
            before, told = told, now
            yield differing(before, now)
        seen = now
        time.sleep(max(_LEAST, 10 * (time.monotonic() - started)))
