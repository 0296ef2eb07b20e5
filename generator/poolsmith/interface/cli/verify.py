"""poolsmith verify."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.live_options import source_flags
from poolsmith.interface.cli.reports import report_outcome
from poolsmith.interface.cli.terminal import exit_code
from poolsmith.interface.report.formats import CHECK, ReportStyle

if TYPE_CHECKING:
    from poolsmith.interface.app.live.verify import Source


@click.command("verify")
@click.argument("cluster", required=False, shell_complete=options.completes("cluster"))
@options.root
@source_flags
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Refuse to verify unless what is checked out is what `diff --save` judged.",
)
@click.option(
    "--since",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also print what is new and what is gone since an earlier run, whose JSON the file is.",
)
@click.option(
    "--older-than",
    type=click.IntRange(0, 36_500),
    default=7,
    show_default=True,
    metavar="DAYS",
    help="With --since: also name the findings that are older.",
)
@options.strict
@options.outputs
@options.output_format
@options.verbose
@options.group_by
@options.color
@options.fail_on
@options.with_style
def command(
    cluster: str | None,
    root: Path,
    source: Source,
    plan: Path | None,
    since: Path | None,
    older_than: int,
    strict: bool,
    outputs: tuple[str, ...],
    how: ReportStyle,
) -> int:
    """Hold a cluster that runs against what is committed and predicted for it.

    It only reads: objects, operands, nodes, privileges, policies. What it needs is printed by `poolsmith live rbac`; a
    right that it lacks is counted as not evaluated. CLUSTER may be left out where the project has only one.
    """
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.interface.app.live.since import earlier_run
    from poolsmith.interface.app.live.since import since as told_since
    from poolsmith.interface.app.live.verify import verify

    files = options.report_files(outputs, root, CHECK)
    facts: tuple[str, ...] = ()
    if plan is not None:
        from poolsmith.interface.app.plan_file import planned

        facts = (planned(root, plan, cluster),)
    before = None if since is None else earlier_run(since)
    outcome = verify(root, cluster, source, JudgingOptions(strict=strict), before)
    told = () if before is None else told_since(before, outcome, older_than)
    outcome = replace(outcome, facts=(*facts, *outcome.facts, *told))
    report_outcome(outcome, root, files, how)
    return exit_code(outcome, how.layout.fail_on)
