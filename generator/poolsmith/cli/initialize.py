"""poolsmith init."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.cli import options
from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.terminal import write
from poolsmith.diagnostics.printable import printable

if TYPE_CHECKING:
    from pathlib import Path


@click.command("init")
@click.argument("cluster", required=False)
@click.option(
    "--engine",
    type=click.Choice(("argocd", "flux")),
    default=None,
    help="Default: the one whose objects the repository has, else argocd.",
)
@options.root
def command(cluster: str | None, engine: str | None, root: Path) -> int:
    """Start a project: a CLUSTER with one pool, policies, hooks, a pipeline, owners.

    CLUSTER is by default the name of the folder. Address, branch and engine are taken from git and from files of the
    repository. What exists is not changed: lines to add are printed.
    """
    from poolsmith.app.initialize import initialize

    result = initialize(root, cluster, engine=engine)
    lines = [f"wrote {path}" for path in result.written]
    lines += [f"kept  {path}" for path in result.kept]
    lines += [f"found {text}" for text in result.found]
    for path, text in result.to_add:
        lines += [f"add to {path}:", *(f"    {line}" for line in text.splitlines())]
    lines += [f"fill in {text}" for text in result.to_fill]
    lines += () if result.has_grants else (_UNGRANTED,)
    lines.append(_NEXT)
    write("".join(f"{printable(line)}\n" for line in lines))
    return Exit.CLEAN


_UNGRANTED = "not enforced yet: privileges, until `poolsmith grants --write` with --reason, --owner and --expires"
_NEXT = "next: edit the profiles, then run `poolsmith generate` and `poolsmith check`"
