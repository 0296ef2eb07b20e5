"""Flags that several verbs share. Floor: cli."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("text", "json", "github")
root = click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the current folder",
    help="Folder that holds profiles/ and output/.",
)
clusters = click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only this cluster; repeatable.")
jobs = click.option("--jobs", type=click.IntRange(1, 64), default=None, help="Processes for many clusters.")
color = click.option("--no-color", "color", flag_value=False, default=None, type=bool, help="Never use colour.")
output_format = click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default=None,
    help="Report format. Default: github inside GitHub Actions, else text.",
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "note")),
    default="error",
    show_default=True,
    help="Exit with 1 when a finding is at least this bad.",
)


def report_flags(command: Command) -> Command:
    """Everything that a verb with a report takes."""
    for option in (fail_on, output_format, color, jobs, clusters, root):
        command = option(command)
    return command
