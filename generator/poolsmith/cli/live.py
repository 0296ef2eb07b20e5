"""poolsmith live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.cli import options
from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.terminal import write

if TYPE_CHECKING:
    from pathlib import Path


@click.group("live")
def command() -> None:
    """What verbs need that read a cluster."""


@command.command("rbac")
@click.argument("cluster", required=False, shell_complete=options.completes("cluster"))
@options.root
@click.option(
    "--cron-job",
    metavar="IMAGE",
    help="Also a CronJob that runs `poolsmith verify`; the image has the fleet at /fleet.",
)
@click.option("--schedule", default="17 * * * *", show_default=True, metavar="CRON", help="When the CronJob runs.")
def rbac(cluster: str | None, root: Path, cron_job: str | None, schedule: str) -> int:
    """Print the roles that `verify` needs in CLUSTER: lists only, and in namespaces only those of its units."""
    from poolsmith.app.live.access import reading_manifests

    write(reading_manifests(root, cluster, image=cron_job, schedule=schedule))
    return Exit.CLEAN
