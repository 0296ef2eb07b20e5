"""poolsmith report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import fleet_of, report_outcome
from poolsmith.interface.cli.terminal import exit_code
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import CHECK, ReportStyle

if TYPE_CHECKING:
    import datetime as dt


@click.group("report")
def command() -> None:
    """Put reports of shards together, or show the fleet as pages."""


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
@options.with_style
def merge(
    files: tuple[Path, ...],
    writes: bool,
    jobs: int | None,
    outputs: tuple[str, ...],
    root: Path,
    how: ReportStyle,
) -> int:
    """Put the JSON reports of all shards together, to the report of the run over all clusters.

    It runs in a checkout of the commit that the shards had, and takes of each what it asked, such as --policies-from.
    """
    from poolsmith.interface.app.shard_merge import merge as merged
    from poolsmith.project.output.batches import default_jobs

    wanted, fleet = options.report_files(outputs, root, CHECK), partial(fleet_of, root, (), is_there=True)
    result = merged(root, files, writes=writes, jobs=jobs or default_jobs())
    report_outcome(result.outcome, root, wanted, how, fleet=fleet)
    return exit_code(result.outcome, how.layout.fail_on) if result.is_current else Exit.FINDINGS


@command.command("site")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@options.today
@click.option(
    "--since", metavar="REV|DAY", help="Tell the history of privileges from this revision or day on. Default: a year."
)
@options.jobs
@options.root
def site(folder: Path, today: dt.date, since: str | None, jobs: int | None, root: Path) -> int:
    """Write the fleet as pages into DIR, for any static host or none.

    A map, a page for each cluster and pool, what ends within 90 days, releases and their support, and the history of
    privileges. The same commit and day give the same bytes. In DIR only pages of an earlier run are replaced.
    """
    from poolsmith.interface.app.fleet_site import SiteOptions, write_fleet_site
    from poolsmith.interface.cli.reports import site_context
    from poolsmith.interface.cli.terminal import progress_bar, tell
    from poolsmith.project.output.batches import default_jobs

    chosen = SiteOptions(
        today=today,
        since=since,
        jobs=jobs or default_jobs(),
    )
    with progress_bar("looking") as progress:
        count = write_fleet_site(root, folder, chosen, site_context(root), progress)
    tell([f"{count:,} pages are in {folder}: open {folder / 'index.html'}"])
    return Exit.CLEAN
