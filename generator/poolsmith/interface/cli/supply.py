"""poolsmith supply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics.masking import without_secrets
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path


@click.command("supply")
@options.root
@click.option("--write", "writes", is_flag=True, help="Write it to policies/supply.yaml, if there is none.")
def command(root: Path, writes: bool) -> int:
    """Print the supply policy for what the clusters take today.

    That is charts, Git repositories, destinations, registries, and what nobody can evaluate. Who reviews it says there
    why that is accepted, who answers for it, and until when. A file that exists is never changed.
    """
    from poolsmith.interface.app.supply import proposed_supply

    result = proposed_supply(root, write=writes)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format="text")
        return Exit.FINDINGS
    if result.written:
        write("wrote policies/supply.yaml; next: have its owners review it")
        write(f", and answer for {result.unknown} unknown in `acceptUnknown`\n" if result.unknown else "\n")
    else:
        write(result.text)
    for text in result.unplaced:
        click.echo(printable(f"poolsmith: no policy can allow {without_secrets(text)}"), err=True)
    return Exit.CLEAN
