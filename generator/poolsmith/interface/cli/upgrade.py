"""poolsmith upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.edited import edit_flags, tell_edited
from poolsmith.interface.cli.terminal import progress_bar, tell
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from poolsmith.interface.app.upgrade import Upgrade
    from poolsmith.interface.cli.edited import EditFlags


@click.command("upgrade")
@click.argument(
    "targets",
    nargs=-1,
    required=True,
    metavar="CLUSTER[/POOL]...",
    shell_complete=options.completes("pool of a cluster"),
)
@click.option(
    "--to", "release", metavar="RELEASE", help="The release of the gpu-operator, such as v26.7.0; also an earlier one."
)
@click.option(
    "--driver", metavar="VERSION", help="The driver of pools: a full version, or the branch of precompiled ones."
)
@click.option("--done", is_flag=True, help="All nodes have the new release: accept pods of that one only.")
@click.option(
    "--with-bases", is_flag=True, help="With --driver: edit a base although pools that are not named stand on it."
)
@edit_flags
def command(
    flags: EditFlags, targets: tuple[str, ...], release: str | None, driver: str | None, done: bool, with_bases: bool
) -> int:
    """Tell what another release or driver does to clusters, and write it into their profiles.

    The output is generated again. Of each profile one line changes, with comments kept. Steps that NVIDIA does not
    support are refused, with the way to take. A release that is older takes an upgrade back.
    """
    if sum((release is not None, driver is not None, done)) != 1:
        raise UsageError("say what to do: one of --to RELEASE, --driver VERSION and --done")
    if with_bases and driver is None:
        raise UsageError("--with-bases goes with --driver: the release stands in no base")
    from poolsmith.interface.app.upgrade import UpgradeOptions, upgrade
    from poolsmith.project.output.batches import default_jobs

    asked = UpgradeOptions(
        today=flags.today,
        release=release,
        driver=driver,
        done=done,
        edits_bases=with_bases,
        dry_run=flags.dry_run,
        jobs=flags.jobs or default_jobs(),
    )
    with progress_bar("upgrading") as progress:
        result = upgrade(flags.root, targets, asked, progress)
    return _reported(result, flags)


def _reported(result: Upgrade, flags: EditFlags) -> int:
    if not result.edits:
        tell(["nothing to do: the profiles say so already"])
        return Exit.CLEAN
    edits = _lines(result)
    done = "wrote the profiles and the output:" if result.written else "nothing was written; it would change"
    steps = (f"   {number}. {step}" for number, step in enumerate(result.steps, 1))
    return tell_edited(result, flags, edits=edits, lines=(done, *edits, *steps))


def _lines(result: Upgrade) -> list[str]:
    return [f"   {edit}" for edit in result.edits]
