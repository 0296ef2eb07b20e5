"""poolsmith audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path


@click.command("audit")
@options.root
@options.clusters
@click.option(
    "--since", required=True, metavar="REV|DAY", help="From this revision on, or from the last one before this day."
)
@click.option("--until", default="HEAD", show_default=True, metavar="REV", help="Up to this revision.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("csv", "markdown", "json")),
    default="csv",
    show_default=True,
    help="Output format.",
)
def command(root: Path, clusters: tuple[str, ...], since: str, until: str, output_format: str) -> int:
    """Print who had which privilege, where, from when until when, and which grant allowed
    it.

    It reads the ledgers and grants that were committed, on the first-parent line of the branch. Nothing is generated,
    and only git objects are read. What can't be read is listed, and the exit code is 1.
    """
    from poolsmith.core.diagnostics.masking import masked
    from poolsmith.interface.app.audit import audit
    from poolsmith.interface.report.audit import audit_csv, audit_json, audit_markdown
    from poolsmith.interface.report.formats import ReportContext

    found = audit(root, since, until, clusters)
    if output_format == "json":
        write(audit_json(found, ReportContext()))
    else:
        write(audit_csv(found) if output_format == "csv" else audit_markdown(found))
    if output_format == "csv":
        tell([f"not evaluated: {masked(item)}" for item in found.not_evaluated])
    return Exit.FINDINGS if found.not_evaluated else Exit.CLEAN
