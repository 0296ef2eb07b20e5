"""poolsmith diff."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_change, write_report_files
from poolsmith.interface.cli.terminal import progress_bar
from poolsmith.interface.cli.verbs import Exit
from poolsmith.interface.report.formats import DIFF, format_diff, names_for

if TYPE_CHECKING:
    import datetime as dt

    from poolsmith.interface.report.fleet_facts import FleetFacts


@click.command("diff")
@click.option(
    "--base",
    metavar="REV",
    help="The git revision to compare with. Default: where the change left the default branch of the remote.",
)
@click.option("--head", metavar="REV", help="The git revision that is compared. Default: what is checked out.")
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    type=click.Choice(("policy-widening", "judge-change")),
    help="Somebody who may do so has accepted what the change widens in policies/, or what it changes of the files "
    "that run and decide this check. Both are still listed, as notes.",
)
@options.today
@click.option(
    "--format",
    "output_format",
    type=click.Choice(names_for(DIFF)),
    default=None,
    help="Report format. Default: github inside GitHub Actions, else text.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the change as it was judged, with digests of what was read; `verify --plan` takes it.",
)
@options.outputs
@options.verbose
@options.fail_on
@options.jobs
@options.clusters
@options.root
def command(
    root: Path,
    clusters: tuple[str, ...],
    jobs: int | None,
    base: str | None,
    head: str | None,
    accepted: tuple[str, ...],
    today: dt.date,
    save: Path | None,
    output_format: str | None,
    outputs: tuple[str, ...],
    verbose: bool,
    fail_on: str,
) -> int:
    """Print what a change does to the fleet, held against the revision that it is to be merged into.

    What is checked out is compared with a git revision; git is read without touching the work tree.
    """
    from poolsmith.interface.app.diff import DiffOptions, judged_change
    from poolsmith.project.output.batches import default_jobs

    files = options.report_files(outputs, root, DIFF)
    chosen = DiffOptions(
        today=today,
        base=base,
        head=head,
        clusters=clusters,
        jobs=jobs or default_jobs(),
        accepted=frozenset(accepted),
    )
    with progress_bar("comparing") as progress:
        judged = judged_change(root, chosen, progress)
    report = judged.report
    if save is not None:
        from poolsmith.interface.app.plan_file import save_plan

        save_plan(save, judged, clusters)
    layout = options.layout(verbose=verbose, fail_on=fail_on)
    fleet = partial(_fleet, root, clusters, head)
    try:
        write_report_files(root, files, partial(format_diff, change=report), layout=layout, fleet=fleet)
    finally:
        print_change(report, output_format=output_format, layout=layout, root=root, fleet=fleet)
    return Exit.FINDINGS if report.fails(Severity(fail_on)) else Exit.CLEAN


def _fleet(root: Path, clusters: tuple[str, ...], head: str | None) -> FleetFacts:
    from poolsmith.interface.app.fleet_facts import fleet_facts

    return fleet_facts(root, clusters, head or None)
