"""poolsmith images."""

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


@click.command("images")
@options.root
@options.clusters
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("text", "json", "yaml")),
    default="text",
    show_default=True,
    help="text: one image a line; json and yaml: with the workloads and pools that need the image.",
)
def command(root: Path, clusters: tuple[str, ...], output_format: str) -> int:
    """Print every image that the nodes will pull, for mirrors and scanners."""
    from poolsmith.app.images import images, images_json, images_text, images_yaml

    result = images(root, clusters)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format=output_format, tool=TOOL)
    else:
        write({"text": images_text, "json": images_json, "yaml": images_yaml}[output_format](result))
        for cluster, text in result.unknown:
            tell([f"unknown: {cluster}: {text}"])
    return Exit.FINDINGS if result.diagnostics else Exit.CLEAN
