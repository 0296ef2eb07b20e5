"""poolsmith gather."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics.message_text import printable
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from poolsmith.change.gather import TeamSource


@click.command("gather")
@click.argument("sources", nargs=-1, required=True, metavar="TEAM=DIR[@REV]...")
@click.option("--check", is_flag=True, help="Write nothing; fail if what the teams have differs from what is here.")
@options.root
def command(sources: tuple[str, ...], check: bool, root: Path) -> int:
    """Take the profiles of teams, each from a repository of its own, into the fleet.

    DIR is a checkout of the team's repository, or any folder with profiles/; REV one of its revisions. A team brings
    the clusters and bases that profiles/_teams.yaml gives to it, and nothing else: policies are the platform's.
    """
    from poolsmith.change.gather import gather

    found = gather(root, [_source(text) for text in sources], write=not check)
    if found.problems:
        print_problems(tuple(found.problems), output_format="text")
        return Exit.FINDINGS
    for team, count in found.files.items():
        write(f"{team}: {count} files\n")
    for text in found.left:
        write(f"not taken {printable(text)}\n")
    for path in found.changed:
        write(f"{'differs' if check else 'wrote'}   {printable(path)}\n")
    if not found.changed:
        write("nothing to write: the fleet has what the teams have\n")
    return Exit.FINDINGS if check and found.changed else Exit.CLEAN


def _source(text: str) -> TeamSource:
    from poolsmith.change.gather import TeamSource
    from poolsmith.core.diagnostics import UsageError

    team, is_named, where = text.partition("=")
    folder, _, revision = where.partition("@")
    if not is_named or not team or not folder:
        raise UsageError(f"`{text}` names no team and folder: write TEAM=DIR, or TEAM=DIR@REV")
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is not a folder")
    return TeamSource(team=team, folder=Path(folder), revision=revision or None)
