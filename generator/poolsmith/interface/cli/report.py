"""poolsmith report."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.main import TOOL
from poolsmith.interface.cli.reports import fleet_of, print_outcome, write_report_files
from poolsmith.interface.cli.terminal import exit_code
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import CHECK, format_check


@click.group("report")
def command() -> None:
    """Put reports of shards together."""


@command.command("merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--write",
    "writes",
    is_flag=True,
    help="For shards of `generate`: write output/fleet/, and remove clusters that have no profile.",
)
@options.jobs
@options.outputs
@options.fail_on
@options.output_format
@options.verbose
@options.group_by
@options.color
@options.root
def merge(
    files: tuple[Path, ...],
    writes: bool,
    jobs: int | None,
    outputs: tuple[str, ...],
    fail_on: str,
    output_format: str | None,
    verbose: bool,
    group_by: str,
    color: bool | None,
    root: Path,
) -> int:
    """Put the JSON reports of all shards together, to the report of the run over all clusters.

    It runs in a checkout of the commit that the shards had, and takes of each what it asked, such as --policies-from.
    """
    from poolsmith.interface.app.shard_merge import merge as merged
    from poolsmith.project.output.batches import default_jobs

    wanted, fleet = options.report_files(outputs, root, CHECK), partial(fleet_of, root, (), is_there=True)
    result = merged(root, files, writes=writes, jobs=jobs or default_jobs())
    outcome = result.outcome
    layout = options.layout(verbose=verbose, group_by=group_by, fail_on=fail_on)
    try:
        write_report_files(root, wanted, partial(format_check, outcome=outcome), tool=TOOL, layout=layout, fleet=fleet)
    finally:
        print_outcome(
            outcome, output_format=output_format, color=color, tool=TOOL, layout=layout, root=root, fleet=fleet
        )
    return exit_code(outcome, fail_on) if result.is_current else Exit.FINDINGS
