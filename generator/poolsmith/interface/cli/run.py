"""poolsmith run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.plain import result_store
from poolsmith.interface.cli.reports import fleet_of, report_outcome
from poolsmith.interface.cli.terminal import exit_code, progress_bar, tell
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import CHECK

if TYPE_CHECKING:
    import datetime as dt

    from poolsmith.interface.cli.options import ReportFlags
    from poolsmith.interface.report.formats import ReportStyle


@click.command("run")
@options.hook
@options.strict
@options.today
@options.cache
@options.rehash
@options.outputs
@options.names
@options.report_flags
def command(
    flags: ReportFlags,
    how: ReportStyle,
    names: tuple[str, ...],
    *,
    outputs: tuple[str, ...],
    hook: bool,
    strict: bool,
    today: dt.date,
    cache: bool | None,
    rehash: bool,
) -> int:
    """Generate output/ from profiles/, and check all of it: `generate` and `check` in one run.

    The work of both is done once. Nothing is checked where profiles have errors, since nothing is written then.
    """
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.interface.app.one_run import run_project

    if flags.shard is not None:
        raise UsageError("--shard is for `generate` and `check`, whose reports are merged")
    files = options.report_files(outputs, flags.root, CHECK)
    root = flags.shared_root
    with progress_bar("generating") as progress:
        done = run_project(
            root,
            clusters=(*flags.clusters, *names),
            jobs=flags.workers,
            progress=progress,
            judging=JudgingOptions(today=today, strict=strict),
            store=result_store(cache),
            rehash=rehash,
        )
    fleet = partial(fleet_of, root, flags.clusters, is_there=True)
    report_outcome(done.outcome, root, files, how, fleet=fleet)
    if hook and done.generated.written:
        from poolsmith.interface.app.commit_hook import to_be_added

        if lacking := list(to_be_added(root, done.generated)):
            tell(lacking)
            return Exit.FINDINGS
    return exit_code(done.outcome, how.layout.fail_on)
