"""poolsmith init."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.cli import options
from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.terminal import write

if TYPE_CHECKING:
    from pathlib import Path


@click.command("init")
@click.argument("cluster", default="gpu-cluster")
@click.option("--engine", type=click.Choice(("argocd", "flux")), default="argocd", show_default=True)
@options.root
def command(cluster: str, engine: str, root: Path) -> int:
    """Write the first profiles: a CLUSTER with one pool. Existing profiles are not changed."""
    from poolsmith.app.initialize import initialize

    result = initialize(root, cluster, engine=engine)
    write("".join(f"wrote {path}\n" for path in result.written))
    write("".join(f"kept  {path}\n" for path in result.kept))
    write(f"next: edit profiles/{cluster}/, then run `poolsmith generate`\n")
    return Exit.CLEAN
