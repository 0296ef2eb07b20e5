"""poolsmith check. Floor: cli."""

from __future__ import annotations

from pathlib import Path

import click

from poolsmith.cli import options
from poolsmith.cli.main import TOOL
from poolsmith.cli.terminal import exit_code, print_outcome, progress_bar


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.report_flags
def command(
    paths: tuple[Path, ...],
    root: Path,
    clusters: tuple[str, ...],
    jobs: int | None,
    color: bool | None,
    output_format: str | None,
    fail_on: str,
) -> int:
    """Check the project and its output, or the manifests in PATHS."""
    from poolsmith.app.batches import default_jobs
    from poolsmith.app.check import check_paths, check_project

    if paths:
        outcome = check_paths(root, paths)
    else:
        with progress_bar("checking") as progress:
            outcome = check_project(root, clusters=clusters, jobs=jobs or default_jobs(), progress=progress)
    print_outcome(outcome, output_format=output_format, color=color, tool=TOOL)
    return exit_code(outcome, fail_on)
