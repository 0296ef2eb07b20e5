"""poolsmith drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path

_DIFFS = ("legacy", "server-side", "structured-merge")


@click.command("drift")
@options.root
@options.clusters
@click.option("--engine", type=click.Choice(("argocd", "flux")), help="As if this engine delivered. Default: its own.")
@click.option("--diff", type=click.Choice(_DIFFS), help="As if Argo CD compared so. Default: as it is generated.")
@options.form("text", "json")
def command(root: Path, clusters: tuple[str, ...], engine: str | None, diff: str | None, output_format: str) -> int:
    """Print what Argo CD or Flux will always show as out of sync.

    These are fields that the API server stores in another form than they are applied, or that somebody else writes.
    Which of them an engine shows depends on how it compares. What is generated for them is printed beside them. With
    `--engine flux`, `--diff` has no effect: Flux always asks the server.
    """
    from poolsmith.change.drift.delivered import DiffMode
    from poolsmith.fleet.profiles.cluster import Engine
    from poolsmith.interface.app.drift import drift

    result = drift(root, clusters, engine=Engine(engine) if engine else None, diff=DiffMode(diff) if diff else None)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format="text")
    if output_format == "json":
        from poolsmith.interface.report.drift_report import drift_json

        write(drift_json(result.clusters, result.lines))
    else:
        from poolsmith.interface.report.drift_report import drift_text

        write(drift_text(result.clusters, result.lines))
    return Exit.FINDINGS if result.diagnostics else Exit.CLEAN
