"""poolsmith check. Floor: cli."""

from __future__ import annotations

from pathlib import Path

import click

from poolsmith.cli import options
from poolsmith.cli.main import TOOL
from poolsmith.cli.terminal import exit_code, print_outcome, progress_bar
from poolsmith.diagnostics import UsageError


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--kubernetes", metavar="MINOR", help="Schemas of this Kubernetes for PATHS. Default: the newest known.")
@click.option(
    "--release",
    metavar="TAG",
    help="This gpu-operator release for PATHS: schemas, and Helm values that do not say theirs.",
)
@click.option(
    "--kubeconform",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[PATH]",
    help="Ask kubeconform too: the one on PATH, or --kubeconform=PATH.",
)
@options.report_flags
def command(
    paths: tuple[Path, ...],
    root: Path,
    clusters: tuple[str, ...],
    jobs: int | None,
    color: bool | None,
    output_format: str | None,
    fail_on: str,
    kubernetes: str | None,
    release: str | None,
    kubeconform: str | None,
) -> int:
    """Check the project and its output, or the manifests in PATHS."""
    from poolsmith.app.batches import default_jobs
    from poolsmith.app.check import check_paths, check_project

    if paths:
        outcome = check_paths(root, paths, kubernetes=kubernetes, release=release, kubeconform=kubeconform)
    else:
        if kubernetes is not None or release is not None:
            raise UsageError("--kubernetes and --release are for PATHS; here the profiles say both")
        with progress_bar("checking") as progress:
            outcome = check_project(
                root, clusters=clusters, jobs=jobs or default_jobs(), kubeconform=kubeconform, progress=progress
            )
    print_outcome(outcome, output_format=output_format, color=color, tool=TOOL)
    return exit_code(outcome, fail_on)
