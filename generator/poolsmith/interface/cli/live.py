"""poolsmith live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit

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
@click.option(
    "--discover", "discovers", is_flag=True, help="For `discover`, which knows no cluster yet: all namespaces."
)
@click.option(
    "--helm-records",
    metavar="NAMESPACE",
    help="With --discover: also the right to list the Secrets of this namespace, for Helm's own records.",
)
@click.option(
    "--around",
    is_flag=True,
    help="Also the right to list, in all namespaces, what stands around the stack; --cron-job has it, too.",
)
@click.option("--schedule", default="17 * * * *", show_default=True, metavar="CRON", help="When the CronJob runs.")
def rbac(
    cluster: str | None,
    root: Path,
    cron_job: str | None,
    schedule: str,
    *,
    around: bool,
    discovers: bool,
    helm_records: str | None,
) -> int:
    """Print the roles that `verify` needs in CLUSTER: lists only, and in namespaces only those of its units."""
    from poolsmith.interface.app.live.verify import discovering_manifests, reading_manifests

    if discovers:
        if cluster is not None or cron_job is not None or around:
            raise UsageError(
                "--discover is for a cluster that no profile describes yet: no CLUSTER, no --cron-job, no --around"
            )
        write(discovering_manifests(helm_records))
        return Exit.CLEAN
    if helm_records is not None:
        raise UsageError("--helm-records is for `discover`: add --discover")
    write(reading_manifests(root, cluster, image=cron_job, schedule=schedule, around=around))
    return Exit.CLEAN
