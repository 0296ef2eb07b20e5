"""poolsmith discover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.live_options import source_flags
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.interface.app.live.verify import Source


@click.command("discover")
@click.argument("cluster", required=False)
@options.root
@source_flags
@click.option(
    "--pool-label",
    metavar="KEY",
    help="The node label that distinguishes pools. Default: what driver objects select by, or a provider's.",
)
@click.option(
    "--helm-records",
    is_flag=True,
    help="Also read Helm's own records in the stack's namespace, which are Secrets: the values as they were given.",
)
@click.option("--write", "is_written", is_flag=True, help="Write the profiles; files that exist are never touched.")
@click.option("--strict", is_flag=True, help="Fail where something could not be read.")
@options.form("text", "json", told="json is stable: `poolsmith schema discovery` prints its JSON Schema.")
@options.verbose
def command(
    cluster: str | None,
    root: Path,
    source: Source,
    pool_label: str | None,
    helm_records: bool,
    is_written: bool,
    strict: bool,
    output_format: str,
    verbose: bool,
) -> int:
    """Propose profiles for a cluster that runs, and say where each field was seen.

    It only lists, and reads no Secrets unless asked for. CLUSTER is the name that the profiles get. What they generate
    is held against the cluster; what nothing on it tells is asked, and assumed until somebody says it.
    """
    from poolsmith.interface.app.live.discover import discover, write_profiles
    from poolsmith.interface.report.discovery import discovery_json, discovery_text
    from poolsmith.interface.report.formats import ReportContext

    found = discover(root, cluster, source, pool_label, helm_records=helm_records)
    if output_format == "json":
        write(discovery_json(found, ReportContext()))
    else:
        write(discovery_text(found, verbose=verbose))
    if is_written:
        lines = [f"wrote {path}" for path in write_profiles(root, found)]
        if output_format == "text":
            write("".join(f"{line}\n" for line in (*lines, _NEXT)))
    is_incomplete = strict and found.not_evaluated
    return Exit.FINDINGS if found.refused or is_incomplete else Exit.CLEAN


_NEXT = "next: answer what is asked, then run `poolsmith init`, which generates and checks; docs/discover.md says more"
