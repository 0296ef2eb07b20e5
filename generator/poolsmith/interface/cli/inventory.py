"""poolsmith inventory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path


@click.command("inventory")
@options.root
@options.clusters
@options.form("text", "json", "csv", told="json is stable: `poolsmith schema inventory` prints its JSON Schema.")
def command(root: Path, clusters: tuple[str, ...], output_format: str) -> int:
    """Print what the pools have: selectors, taints, resources, runtime classes, drivers, owners."""
    from poolsmith.interface.app.inventory import inventory
    from poolsmith.interface.report.formats import ReportContext
    from poolsmith.interface.report.inventory import inventory_csv, inventory_json, inventory_text

    found = inventory(root, clusters)
    if output_format == "json":
        write(inventory_json(found, ReportContext()))
    else:
        write(inventory_csv(found) if output_format == "csv" else inventory_text(found))
    return Exit.FINDINGS if found.unknown else Exit.CLEAN
