"""poolsmith grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.cli import options
from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.main import TOOL
from poolsmith.cli.reports import print_problems
from poolsmith.cli.terminal import tell, write

if TYPE_CHECKING:
    from pathlib import Path


@click.command("grants")
@options.root
@options.clusters
@click.option("--write", "writes", is_flag=True, help="Write them to policies/privileges/, as new files.")
def command(root: Path, clusters: tuple[str, ...], writes: bool) -> int:
    """Print the smallest grants for all privileges that nobody has granted yet.

    Who reviews them fills in reason, owner and the last day; until then `poolsmith check` reports them. Files that
    exist are never changed.
    """
    from poolsmith.app.grants import missing_grants
    from poolsmith.report.grants_text import grants_yaml, summary

    result = missing_grants(root, clusters, write=writes)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format="text", tool=TOOL)
        return Exit.FINDINGS
    told = summary(grants=result.grants, lines=result.lines, granted=result.granted)
    if result.written:
        write("".join(f"wrote {path}\n" for path in result.files))
        write(f"{told}; next: say in each why, who answers for it, and until when; ")
        write("then run `poolsmith generate` and `poolsmith check`\n")
    elif result.files:
        write(grants_yaml(result.files))
        tell([f"{told}; --write writes them"])
    else:
        write(f"{told}\n")
    for text in result.unknown:
        tell([f"unknown: {text}"])
    return Exit.CLEAN
